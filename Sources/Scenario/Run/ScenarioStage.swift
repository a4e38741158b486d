import Advice
import Basics
import Broker
import Credentials
import Emulator
import Platform
import PushModel
import Transport

/// An emulator of a scenario's own, with a frozen clock and its phones on the same loop.
final class ScenarioStage {
  let emulator: Emulator
  let provider: ScenarioProvider
  private(set) var phones: [UDID: ScenarioPhone] = [:]
  let begin: Timestamp

  /// How long the world may take until all is at rest, in nanoseconds.
  private static let timeout: Int64 = 10_000_000_000
  /// How long the loop sleeps at most before it is looked at again, in nanoseconds: what ends outside of it wakes nobody.
  private static let look: Int64 = 20_000_000
  /// When scenarios begin, in seconds of a day.
  private static let morning: Int64 = 9 * 3600

  init(_ scenario: Scenario, _ credentials: TemporaryCredentials) throws {
    var options = ServeOptions()
    options.listeners = ListenerOptions(protocols: .number(0))
    (options.credentials.certs, options.files.isEphemeral) = (credentials.certs, true)
    (options.environment, options.seed, options.log.level) = (scenario.environment, 1, .error)
    options.credentials.tokenSeed = "scenario"
    emulator = try Emulator(options: options)
    // Certificates are valid from the wall clock's today on. Always more than a day ahead, so that nothing hinges on the hour.
    let today = Timestamp(nanoseconds: SystemClock.wallNanoseconds()).seconds / 86400
    begin = Timestamp(seconds: (today + 2) * 86400 + Self.morning)
    emulator.clock.set(begin)
    emulator.clock.setFrozen(true)
    emulator.clock.set(begin)
    try emulator.start()
    provider = ScenarioProvider(emulator, credentials)
    for (udid, setup) in scenario.phones.sorted(by: { $0.key.text < $1.key.text }) {
      let phone = try ScenarioPhone(udid, setup, emulator, credentials)
      phones[udid] = phone
      if setup.isOnline { phone.device.switchOn() }
    }
  }

  var sortedPhones: [ScenarioPhone] { phones.values.sorted { $0.udid.text < $1.udid.text } }

  /// Ends the emulator; to be called once.
  func end() {
    for phone in sortedPhones { phone.device.switchOff() }
    emulator.stop()
    emulator.run()
  }

  /// Moves the clock; what is due happens.
  func advance(nanoseconds: Int64) {
    emulator.clock.advance(nanoseconds: nanoseconds)
    emulator.clockWasMoved()
    for phone in sortedPhones { phone.device.advance() }
  }

  /// Of this stage and not of the story: each push has a connection of its own.
  private static let ownHabits: Set<AdviceRule> = [.connectionPerPush, .reconnectStorm]

  /// What is wrong with the story's provider so far: whoever was to send again has had the time, as the clock stands still.
  func advice() -> [AdviceRule] {
    emulator.advice.nothingMoreComes()
    return emulator.advice.findings().map(\.rule).filter { !Self.ownHabits.contains($0) }
  }

  // MARK: Rest

  /// Turns the loop until nothing is on its way any more, and `isDone`.
  func rest(_ what: String, until isDone: () -> Bool = { true }) throws {
    let deadline = SystemClock.now().adding(nanoseconds: Self.timeout)
    let timer = LoopEvent(timerOn: emulator.loop) {}
    defer { timer.cancel() }
    while !(isDone() && isAtRest) {
      guard SystemClock.now() < deadline else {
        throw StageError("\(what): still under way after \(Self.timeout / 1_000_000_000) s: \(unrest)")
      }
      if let failure = emulator.failure { throw failure }
      timer.start(afterNanoseconds: Self.look)
      emulator.loop.runTurn()
    }
    // What has just been acknowledged is told.
    for _ in 0..<2 { emulator.loop.runTurn(wait: false) }
  }

  private var isAtRest: Bool {
    !emulator.isCommitting && phones.values.allSatisfy(\.isAtRest) && movingPush == nil
  }

  /// A push that is not where it belongs yet.
  private var movingPush: JournalRecord? {
    let journal = emulator.broker.journal
    return (journal.firstId..<journal.nextId).lazy.compactMap { journal.shown($0) }.first { record in
      switch record.state {
      // A broadcast is no phone's own, and nobody says that it has come.
      case .sent: record.registration != nil
      case .stored: record.udid(self.emulator.broker).flatMap { self.phones[$0] }?.isListening ?? false
      case .rejected, .delivered, .replaced, .expired, .discarded: false
      }
    }
  }

  private var unrest: String {
    if let phone = sortedPhones.first(where: { !$0.isAtRest }) {
      return phone.failure
        ?? "\(phone.udid) is not \(phone.device.isOn ? "connected with all its tokens" : "disconnected")"
    }
    return movingPush.map { "push \($0.id) is \($0.state.name)" } ?? "the answer has not come"
  }
}

extension Emulator {
  /// A scenario has all listeners.
  func address(_ listener: String) -> SocketAddress {
    guard let address = ports[listener] else { preconditionFailure("the \(listener) listener is open") }
    return address
  }

  /// A token of a phone as the service has it; nil for none.
  func token(_ need: TokenNeed, of udid: UDID) -> DeviceToken? {
    let registry = broker.registry
    guard let device = registry.knownDevice(udid), let topic = registry.topic(named: need.topic) else {
      return nil
    }
    let row = registry.installed(on: device).first {
      registry[$0].topic == topic && registry[$0].environment == options.environment
        && registry.context(of: $0) == need.context
    }
    return row.map { registry[$0].token }
  }
}

/// A scenario can't go on: a lower-case sentence.
struct StageError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
