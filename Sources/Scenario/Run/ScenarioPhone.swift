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
  private let joined: ConnectedPhone
  var phone: Phone { joined.phone }
  /// What has happened since it was asked last.
  private var events: [PhoneEvent] = []
  var eventCount: Int { events.count }
  /// What the service has given, whether or not it is the apps'.
  private var given: [Topic: DeviceToken] = [:]
  /// Those of its apps: one whose entitlement is for another environment, or none, has none that it could tell its provider.
  var tokens: [Topic: DeviceToken] { given.filter { phone.isEntitled($0.key.app.topic) } }
  /// Those that the service knows of.
  var apps: Set<Topic> { Set(given.keys.map(\.app.topic)) }
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
  /// What its phone wants and there is no token for.
  private var refusedNeeds: Set<TokenNeed> = []

  /// One that is switched off.
  init(
    _ udid: UDID, _ setup: PhoneSetup, _ emulator: Emulator, _ credentials: ScenarioCredentials
  ) throws {
    (self.udid, self.emulator) = (udid, emulator)
    identity = try credentials.identity(of: udid, by: emulator)
    context = try TLSContext.client(ca: emulator.ports.ca, policy: TLSPolicy())
    state = DeviceState(udid: udid)
    joined = ConnectedPhone(PhoneSettings())
    joined.connect(to: emulator.options.environment)
    for topic in setup.apps { joined.install(topic) }
    _ = try joined.perform(setup.settings, at: emulator.clock.now())
    for topic in setup.apps { install(topic) }
  }

  // MARK: The wire

  func switchOn() {
    guard !isOn else { return }
    let device = SimulatedDevice(state: state, isActivated: true, hasPhone: true, seed: emulator.seed)
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
    joined.forgetWishes()
    tellWishes()
    driver.tell(.start)
  }

  func switchOff() {
    driver?.tell(.stop)
    (driver, isOn, isConnected) = (nil, false, false)
  }

  /// Whether the emulator sees it as it is.
  var isAtRest: Bool {
    guard isOn else { return !emulator.isConnected(udid) }
    guard isConnected, isHeard, !joined.isRenewing else { return false }
    return state.apps.allSatisfy { given[$0.topic] != nil || refused.contains($0.topic) }
      && given.allSatisfy { $0.value == emulator.token($0.key, of: udid) }
      && Set(phone.wantedTokens).symmetricDifference(contextTokens.keys).isSubset(of: refusedNeeds)
      && contextTokens.allSatisfy { $0.value == emulator.token($0.key.topic, $0.key.context, of: udid) }
  }

  /// Whether pushes and broadcasts come by the connection, or none do as the phone has no network.
  private var isHeard: Bool {
    let hasTopics = !given.isEmpty || !contextTokens.isEmpty
    return driver?.isSubscribed == true
      && emulator.listens(udid) == (hasTopics && phone.settings.hasNetwork)
  }

  /// Whether a push that is kept for it is about to come.
  var isListening: Bool { isOn && phone.settings.hasNetwork }

  private func tellWishes() {
    guard let driver else { return }
    for wish in joined.takeWishes() { driver.tell(wish) }
  }

  /// For an app that a person puts on the phone: it asks for a token, and for one of each further kind that it has.
  func install(_ topic: Topic) {
    if phone[topic] == nil { joined.install(topic) }
    let kinds = [.alert] + phone.tokenTypes(of: topic)
    for topic in kinds.compactMap(topic.topic(for:)) where !state.apps.contains(where: { $0.topic == topic })
    {
      if let driver { driver.tell(.install(topic)) } else { state.apps.append(DeviceState.App(topic: topic)) }
    }
  }

  // MARK: What happens on it

  func perform(_ order: PhoneOrder) throws(PhoneOrderError) {
    events += try joined.perform(order, at: emulator.clock.now())
    tellWishes()
  }

  /// Lets everything happen that is due by the emulator's clock.
  func catchUp() {
    events += joined.advance(to: emulator.clock.now())
    tellWishes()
  }

  func takeEvents() -> [PhoneEvent] {
    defer { events = [] }
    return events
  }

  // MARK: DeviceOwner

  func activate(_ udid: UDID) throws -> DeviceIdentity { identity }

  func keep(_ state: DeviceState) { self.state = state }

  func deviceTold(_ event: DeviceEvent) {
    note(event)
    events += joined.hear(of: event, from: emulator.options.environment, at: emulator.clock.now())
    tellWishes()
  }

  /// What it has from the service.
  private func note(_ event: DeviceEvent) {
    switch event {
    case .connected: isConnected = true
    case .disconnected: isConnected = false
    case .token(let topic, let token): given[topic] = token
    case .tokenRefused(let topic, _): refused.insert(topic)
    case .contextToken(let need, let token): contextTokens[need] = token
    case .contextRefused(let need, _): refusedNeeds.insert(need)
    case .contextEnded(let need): contextTokens[need] = nil
    case .app(let topic, .removed) where topic.app.type == nil:
      given = given.filter { !$0.key.belongs(toApp: topic) }
      contextTokens = contextTokens.filter { !$0.key.topic.belongs(toApp: topic) }
    case .app(let topic, .reinstalled) where topic.app.type == nil:
      contextTokens = contextTokens.filter { !$0.key.topic.belongs(toApp: topic) }
    case .erased, .restored: (given, contextTokens) = ([:], [:])
    case .activated, .notification, .app: break
    }
  }

  func deviceFailed(_ error: any Error) { failure = failure ?? "\(error)" }
}
