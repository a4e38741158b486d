import Credentials
import DeviceDriver
import Emulator
import Phone
import PushModel
import SimulatedDevice
import Transport

/// A phone of a scenario: the wire and what iOS makes of it, on the emulator's own loop and clock.
final class ScenarioPhone: DeviceOwner {
  let udid: UDID
  private(set) var phone = Phone()
  /// What has happened since it was asked last.
  private var events: [PhoneEvent] = []
  private(set) var tokens: [Topic: DeviceToken] = [:]
  /// Those that were made for something besides their topics.
  private(set) var contextTokens: [TokenNeed: DeviceToken] = [:]
  /// Whether it is switched on.
  private(set) var isOn = false
  private(set) var failure: String?
  private let emulator: Emulator
  private let context: TLSContext
  private let identity: DeviceIdentity
  private var state: DeviceState
  private var driver: DeviceDriver?
  private var isConnected = false
  /// Apps that there is no token for.
  private var refused: Set<Topic> = []
  /// What the device was told last that its phone wants, and what of it there is no token for.
  private var wanted: [TokenNeed] = []
  private var refusedNeeds: Set<TokenNeed> = []

  /// One that is switched off.
  init(
    _ udid: UDID, _ setup: PhoneSetup, _ emulator: Emulator, _ credentials: ScenarioCredentials
  ) throws {
    (self.udid, self.emulator) = (udid, emulator)
    identity = try credentials.identity(of: udid, by: emulator)
    context = try TLSContext.client(ca: emulator.ports.ca, policy: TLSPolicy())
    state = DeviceState(udid: udid)
    for topic in setup.apps { phone.install(PhoneApp(topic)) }
    _ = try phone.perform(setup.settings, at: emulator.clock.now())
    for topic in setup.apps { install(topic) }
  }

  // MARK: The wire

  func switchOn() {
    guard !isOn else { return }
    let device = SimulatedDevice(state: state, isActivated: true, seed: emulator.seed)
    let driver = DeviceDriver(
      device, identity: identity, loop: emulator.loop, environment: emulator.options.environment,
      context: context
    ) { [emulator] in
      guard let address = emulator.ports["courier"] else {
        preconditionFailure("a scenario has all listeners")
      }
      return address
    }
    driver.owner = self
    (self.driver, isOn, refused, refusedNeeds) = (driver, true, [], [])
    wanted = phone.wantedTokens
    driver.tell(.wants(wanted))
    driver.tell(.start)
  }

  func switchOff() {
    driver?.tell(.stop)
    (driver, isOn, isConnected) = (nil, false, false)
  }

  /// Whether the emulator sees it as it is.
  var isAtRest: Bool {
    guard isOn else { return !emulator.isConnected(udid) }
    guard isConnected else { return false }
    return state.apps.allSatisfy { tokens[$0.topic] != nil || refused.contains($0.topic) }
      && tokens.allSatisfy { $0.value == emulator.token($0.key, of: udid) }
      && Set(wanted).symmetricDifference(contextTokens.keys).isSubset(of: refusedNeeds)
      && contextTokens.allSatisfy { $0.value == emulator.token($0.key.topic, $0.key.context, of: udid) }
  }

  /// Tells the device if its phone wants other tokens than before.
  private func noteWanted() {
    let now = phone.wantedTokens
    guard now != wanted else { return }
    wanted = now
    driver?.tell(.wants(now))
  }

  /// For an app that a person puts on the phone: it asks for a token, and for one of each further kind that it has.
  func install(_ topic: Topic) {
    if phone[topic] == nil { phone.install(PhoneApp(topic)) }
    let kinds = [.alert] + phone.tokenTypes(of: topic)
    for topic in kinds.compactMap(topic.topic(for:)) where !state.apps.contains(where: { $0.topic == topic })
    {
      if let driver { driver.tell(.install(topic)) } else { state.apps.append(DeviceState.App(topic: topic)) }
    }
  }

  // MARK: What happens on it

  func perform(_ order: PhoneOrder) throws(PhoneOrderError) {
    events += try phone.perform(order, at: emulator.clock.now())
    noteWanted()
  }

  /// Lets everything happen that is due by the emulator's clock.
  func catchUp() {
    events += phone.advance(to: emulator.clock.now())
    noteWanted()
  }

  func takeEvents() -> [PhoneEvent] {
    defer { events = [] }
    return events
  }

  // MARK: DeviceOwner

  func activate(_ udid: UDID) throws -> DeviceIdentity { identity }

  func keep(_ state: DeviceState) { self.state = state }

  func deviceTold(_ event: DeviceEvent) {
    hear(of: event)
    noteWanted()
  }

  private func hear(of event: DeviceEvent) {
    switch event {
    case .connected: isConnected = true
    case .disconnected: isConnected = false
    case .token(let topic, let token):
      tokens[topic] = token
      if phone[topic.app.topic] == nil { phone.install(PhoneApp(topic.app.topic)) }
      events += phone.take(token, of: topic, at: emulator.clock.now())
    case .tokenRefused(let topic, _): refused.insert(topic)
    case .contextToken(let need, let token):
      contextTokens[need] = token
      events += phone.take(token, of: need.topic, context: need.context, at: emulator.clock.now())
    case .contextRefused(let need, _): refusedNeeds.insert(need)
    case .contextEnded(let need): contextTokens[need] = nil
    // Tokens of other kinds go with their app's.
    case .app(let topic, _) where topic.app.type != nil: break
    case .app(let topic, .removed):
      tokens = tokens.filter { !$0.key.belongs(toApp: topic) }
      contextTokens = contextTokens.filter { !$0.key.topic.belongs(toApp: topic) }
      phone.remove(topic)
    case .app(let topic, .reinstalled):
      contextTokens = contextTokens.filter { !$0.key.topic.belongs(toApp: topic) }
      // How it was built stays.
      var app = PhoneApp(topic)
      if let build = phone[topic]?.build { app.build = build }
      phone.install(app)
    case .erased:
      (tokens, contextTokens) = ([:], [:])
      phone.erase()
    case .restored:
      (tokens, contextTokens) = ([:], [:])
      phone.restore()
    case .notification(let notification):
      events += phone.receive(PhonePush(notification, id: phone.makeId()), at: emulator.clock.now())
    case .activated, .app: break
    }
  }

  func deviceFailed(_ error: any Error) { failure = failure ?? "\(error)" }
}
