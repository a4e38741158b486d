import APNSEmulatorTesting
import Basics
import Broker
import Console
import Credentials
import DeviceDriver
import Emulator
import Phone
import Platform
import PushModel
import SimulatedDevice
import Testing

@testable import Commands
@testable import Scenario

/// An emulator with a scenario's phone, one of `device`, one of the library for tests, and one of a fleet.
final class FourPhones {
  private static let app = Topic("com.example.app") ?? { preconditionFailure("a bundle id") }()
  private static let setting =
    #"{"name":"x","phones":{"scenario":{"apps":{"com.example.app":{}}}},"steps":[{"say":"x"}]}"#
  /// All of them have one key, as making one takes long.
  private static let request = Result { try DeviceRequest.make(udid: udid("any")) }
  nonisolated(unsafe) private static let credentials = Result { try RunCredentials.make() }

  private let stage: ScenarioStage
  private let users: [StoryUser]
  private let channelId: [UInt8] = [1, 2, 3, 4]

  init() throws {
    let file = try ScenarioFile(path: "x.json", text: Array(Self.setting.utf8))
    stage = try ScenarioStage(file.scenario, Self.credentials.get())
    let request = try Self.request.get()
    users = try [
      ScenarioUser(#require(stage.phones.values.first)),
      DeviceUser(Self.udid("device"), Self.app, stage.emulator, request),
      LibraryUser(Self.udid("library"), Self.app, stage.emulator, request),
      FleetUser(Self.udid("fleet"), Self.app, stage.emulator, request),
    ]
    for user in users { user.device.switchOn() }
    try rest()
    _ = stage.emulator.broker.channels.create(try channel(), storesNewest: false)
    _ = try play(.person(#"{"do":"settings","apps":{"com.example.app":{"activityTypes":["Game"]}}}"#))
  }

  fileprivate static func udid(_ name: String) -> UDID {
    UDID(name) ?? { preconditionFailure("a name of a device") }()
  }

  private func channel() throws -> ChannelTable.Key {
    let topic = try #require(stage.emulator.broker.registry.topic(named: Self.app))
    return ChannelTable.Key(
      topic: topic, environment: stage.emulator.options.environment, id: channelId)
  }

  func end() {
    for user in users { user.device.switchOff() }
    stage.end()
  }

  /// Until all phones are as the emulator sees them.
  private func rest(until isDone: () -> Bool = { true }) throws {
    do {
      try stage.rest("the step") { users.allSatisfy { isAtRest($0) } && isDone() }
    } catch {
      throw StageError("\(error); moving: \(users.filter { !isAtRest($0) }.map(\.udid))")
    }
  }

  private func isAtRest(_ user: StoryUser) -> Bool {
    let (device, emulator) = (user.device, stage.emulator)
    return device.isSettled && device.now == emulator.clock.now()
      && emulator.listens(user.udid) == (device.phone?.settings.hasNetwork == true && !device.tokens.isEmpty)
      && device.tokens.allSatisfy { $0.value == emulator.token($0.key, of: user.udid) }
  }

  /// Plays a step on all of them, and answers what has happened on each.
  func play(_ step: SameStoryTests.Step) throws -> [[String]] {
    let before = users.map { $0.events.count }
    switch step {
    case .person(let text): try act(text)
    case .push(let payload, let type, let context):
      try push(payload, context) {
        $0.type = type
        $0.credential = type == .alert ? .certificate : .key
      }
    case .silent(let interface):
      try push(#"{"aps":{"content-available":1}}"#, nil) {
        ($0.by, $0.command) = (ScenarioPush.Interface(rawValue: interface) ?? .http2, 1)
      }
    case .broadcast(let payload): try broadcast(payload)
    case .remove:
      for user in users {
        _ = stage.emulator.change(
          .remove, Self.app, on: user.udid, in: stage.emulator.options.environment)
      }
    }
    try rest()
    // Before it answers an order a phone reports what has happened.
    try act(#"{"do":"settings"}"#)
    return zip(users, before).map { user, before in user.events.dropFirst(before).map(\.line) }
  }

  private func act(_ text: String) throws {
    let order = try #require(JSONReader.read(Array(text.utf8)))
    var done = 0
    for user in users { try user.perform(order) { done += 1 } }
    try rest { done == users.count }
  }

  private func push(
    _ payload: String, _ context: TokenContext?, _ change: (inout ScenarioPush) -> Void
  ) throws {
    var push = ScenarioPush()
    push.payload = .string(payload)
    change(&push)
    let topic = try #require(Self.app.topic(for: push.type ?? .alert))
    for user in users {
      let device = user.device
      // An app that was removed has none any more.
      guard let token = device.tokens[TokenNeed(topic, context)] else {
        #expect(device.phone?[Self.app] == nil, "\(user.udid) has no token")
        continue
      }
      let attempt = try stage.provider.send(push, to: token.bytes, topic, named: "phone")
      defer { attempt.end() }
      try rest { attempt.outcome != nil }
      #expect(attempt.outcome?.isAccepted == true, "\(attempt.outcome?.text ?? "no answer")")
    }
  }

  private func broadcast(_ payload: String) throws {
    let (broker, key) = (stage.emulator.broker, try channel())
    let (before, now) = (users.map { $0.events.count }, stage.emulator.clock.now())
    let bytes = Array(payload.utf8)
    let submission = Submission(
      interface: .provider, topic: key.topic, environment: key.environment, token: .none, payload: bytes.span)
    _ = broker.broadcasts.send(submission, to: key, storageSeconds: 0, now: now)
    // Nobody says that it has come but the phones themselves.
    try rest { zip(users, before).allSatisfy { user, before in user.events.count > before } }
  }
}

// MARK: Who uses a phone

/// A phone as one part of the program has it: played by that part's own means, and seen by what it shows.
private protocol StoryUser {
  var udid: UDID { get }
  var device: DevicePhone { get }
  /// All that has happened on the phone, oldest first.
  var events: [JSONValue] { get }
  func perform(_ order: JSONValue, _ done: @escaping () -> Void) throws
}

/// The phone of a scenario, which has events for its expectations.
private struct ScenarioUser: StoryUser {
  let phone: ScenarioPhone
  var udid: UDID { phone.udid }
  var device: DevicePhone { phone.device }

  init(_ phone: ScenarioPhone) { self.phone = phone }

  var events: [JSONValue] { phone.events.map { .object($0.members) } }

  func perform(_ order: JSONValue, _ done: () -> Void) throws {
    try device.perform(try PhoneOrder(order))
    done()
  }
}

/// A phone that is driven over the wire by the emulator, and reports to it.
private protocol DrivenUser: StoryUser {
  var emulator: Emulator { get }
}

extension DrivenUser {
  var events: [JSONValue] {
    guard let phone = emulator.phones.json(udid)?.encoded,
      case .array(let log)? = JSONReader.read(phone, maximumDepth: JSONText.maximumDepth)?.member("log")
    else { return [] }
    return log
  }

  func perform(_ order: JSONValue, _ done: @escaping () -> Void) throws {
    emulator.phones.order(order, to: udid) { answer in
      if case .done = answer { done() } else { Issue.record("\(answer)") }
    }
  }

  fileprivate static func certificate(_ udid: UDID, _ emulator: Emulator, _ request: DeviceRequest) throws
    -> [UInt8]
  {
    try emulator.certs.signDeviceRequest(
      csrPEM: request.csrPEM, udid: udid, now: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
  }

  /// The emulator as a command finds it.
  fileprivate static func running(_ emulator: Emulator) throws -> RunningEmulator {
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    let path = folder.path + "/ports.json"
    try TextFile.write(path, emulator.ports.json.encoded)
    var settings = Settings()
    settings.say(CommonFlags.portsFile, path)
    return try RunningEmulator(settings)
  }
}

/// The command `device`, which prints a line for each event.
private struct DeviceUser: DrivenUser {
  let udid: UDID
  let emulator: Emulator
  private let runner: DeviceRunner
  private let printed = Lines()

  private final class Lines {
    var values: [JSONValue] = []
  }

  init(_ udid: UDID, _ app: Topic, _ emulator: Emulator, _ request: DeviceRequest) throws {
    (self.udid, self.emulator) = (udid, emulator)
    let running = try Self.running(emulator)
    try DeviceFiles(folder: "\(running.certs)/devices", udid: udid).keep(
      certificatePEM: try Self.certificate(udid, emulator, request), keyPEM: request.keyPEM)
    runner = try DeviceRunner(
      running, udid, [app], in: [emulator.options.environment], DeviceTraits(seed: 2), NewPhone(),
      on: ClientLoop(on: emulator.loop), isJSON: true, count: nil
    ) { [printed] in printed.values.append(try #require(JSONReader.read(Array($0.utf8)))) }
  }

  var device: DevicePhone { runner.device }
  /// What comes from the wire has no rule.
  var events: [JSONValue] { printed.values.filter { $0.member("rule") != nil } }
}

/// A phone of the library for tests, which is seen at the console.
private struct LibraryUser: DrivenUser {
  let udid: UDID
  let emulator: Emulator
  private let phone: LivePhone

  init(_ udid: UDID, _ app: Topic, _ emulator: Emulator, _ request: DeviceRequest) throws {
    (self.udid, self.emulator) = (udid, emulator)
    phone = try LivePhone(udid, emulator, request)
    phone.device.install(app)
  }

  var device: DevicePhone { phone.device }
}

/// A phone of a fleet, here with iOS on it.
private struct FleetUser: DrivenUser {
  let udid: UDID
  let emulator: Emulator
  /// Keeps it.
  private let fleet: FleetRunner
  private let phone: FleetPhone

  init(_ udid: UDID, _ app: Topic, _ emulator: Emulator, _ request: DeviceRequest) throws {
    (self.udid, self.emulator) = (udid, emulator)
    let environment = emulator.options.environment
    let site = FleetSite(
      try Self.running(emulator), name: "fleet", topics: [app], environment: environment,
      keepAliveNanoseconds: 60_000_000_000, keepsFiles: false)
    // It has another one to wait for.
    fleet = try FleetRunner(
      FleetPlan(phones: 2, rate: 1, seed: 1), site: site, output: FleetOutput(isJSON: true, tokensPath: nil),
      count: nil, stamp: nil)
    let identity = try DeviceIdentity(
      certificatePEM: try Self.certificate(udid, emulator, request), keyPEM: request.keyPEM)
    let device = DevicePhone(
      [(environment, DeviceState(udid: udid, apps: [HeldToken(TokenNeed(app))]))], identity: identity,
      DeviceTraits(seed: 3), try site.route(on: emulator.loop), phone: NewPhone())
    phone = FleetPhone(device, of: fleet)
  }

  var device: DevicePhone { phone.device }
}

extension JSONValue {
  /// Of an event, without the token, which is each phone's own.
  fileprivate var line: String {
    let words = ["event", "detail", "rule", "context"].compactMap { string($0) }
    let line = words.filter { !$0.isEmpty }.joined(separator: " ")
    return line.replacing(/[0-9a-f]{64}(, )?/, with: "")
  }
}
