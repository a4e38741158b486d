import Broker
import CourierWire
import Credentials
import Emulator
import Phone
import PushModel
import SimulatedDevice
import Testing
import Transport

@testable import DeviceDriver
@testable import Scenario

/// The phone of `device` and one of a scenario, side by side on one emulator.
@Suite("The same story", .serialized)
struct SameStoryTests {
  /// What happens in a story, to both.
  enum Step: Sendable {
    case person(String)
    /// To the app's token, or to one that was made for something.
    case push(String, type: PushType? = .alert, to: TokenContext? = nil)
    case silent(by: String)
    /// To all that have joined the channel.
    case broadcast(String)
    case remove
  }

  struct Story: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: [Step]
    /// Words that some event of the last step has, so that the same nothing is not enough; empty where there is none.
    let ends: [String]
  }

  private static let network = #"{"do":"settings","network":"#
  private static let start =
    #"{"aps":{"event":"start","timestamp":1,"attributes-type":"Game","attributes":{},"content-state":{},"alert":{"title":"T"},"input-push-channel":"\#(channel)"}}"#
  private static let channel = Base64.encode([1, 2, 3, 4])
  private static let activity =
    #"{"do":"activity","topic":"com.example.app","attributesType":"Game","intent":true}"#

  static let stories = [
    Story(
      testDescription: "without a network pushes wait, and the last of them comes with it",
      steps: [
        .person(network + "false}"), .push(#"{"aps":{"alert":"first"}}"#),
        .push(#"{"aps":{"alert":"second"}}"#), .person(network + "true}"),
      ], ends: ["presented lock screen, list system-shows"]),
    Story(
      testDescription: "a Live Activity that a channel updates and ends",
      steps: [
        .push(start, type: .liveactivity, to: .start(attributesType: "Game")),
        .broadcast(#"{"aps":{"event":"update","timestamp":2,"content-state":{"score":1}}}"#),
        .broadcast(#"{"aps":{"event":"end","timestamp":3}}"#),
      ], ends: ["activity ended activity-ended activity-1"]),
    Story(
      testDescription: "an app that is removed hears nothing more",
      steps: [
        .push(#"{"aps":{"alert":"before","mutable-content":1}}"#), .remove,
        .push(#"{"aps":{"alert":"after"}}"#),
      ], ends: []),
    Story(
      testDescription: "the token of a Live Activity becomes another",
      steps: [.person(activity), .person(#"{"do":"renew-token","activity":"activity-1"}"#)],
      ends: ["token activity-token-changed for activity-1"]),
    Story(
      testDescription: "silent pushes of the binary interface and without a type",
      steps: [
        .silent(by: "legacy"), .silent(by: "http2"), .person(#"{"do":"settings","strictPushType":true}"#),
        .silent(by: "legacy"),
      ], ends: ["dropped silent-type"]),
  ]

  @Test("has the same events on both", arguments: stories)
  func same(story: Story) throws {
    let stage = try TwoPhones()
    defer { stage.end() }
    for (index, step) in story.steps.enumerated() {
      let events = try stage.play(step)
      #expect(events.scenario == events.device, "step \(index)")
      guard index == story.steps.count - 1 else { continue }
      #expect(events.scenario.isEmpty == story.ends.isEmpty)
      for words in story.ends { #expect(events.scenario.contains(words), "\(events.scenario)") }
    }
  }

  @Test("what came while there was no network is not told before")
  func waits() throws {
    let stage = try TwoPhones()
    defer { stage.end() }
    _ = try stage.play(.person(Self.network + "false}"))
    let events = try stage.play(.push(#"{"aps":{"alert":"Hello"}}"#))
    #expect(events.scenario.isEmpty && events.device.isEmpty)
  }
}

/// An emulator with a scenario's phone and one of `device`.
private final class TwoPhones {
  private static let app = Topic("com.example.app") ?? { preconditionFailure("a bundle id") }()
  private static let setting =
    #"{"name":"x","phones":{"anna":{"apps":{"com.example.app":{"activityTypes":["Game"]}}}},"steps":[{"say":"x"}]}"#
  private static let channel: [UInt8] = [1, 2, 3, 4]

  nonisolated(unsafe) private static let credentials = Result { try RunCredentials.make() }

  private let stage: ScenarioStage
  private let anna: ScenarioPhone
  private let ben: DeviceSide

  init() throws {
    let file = try ScenarioFile(path: "x.json", text: Array(Self.setting.utf8))
    let credentials = try Self.credentials.get()
    stage = try ScenarioStage(file.scenario, credentials)
    anna = try #require(stage.phones.values.first)
    ben = try DeviceSide(#require(UDID("ben")), Self.app, stage.emulator, credentials)
    try rest()
    _ = (anna.takeEvents(), ben.takeEvents())
    let key = try channel()
    _ = stage.emulator.broker.channels.create(key, storesNewest: false)
  }

  private func channel() throws -> ChannelTable.Key {
    let topic = try #require(stage.emulator.broker.registry.topic(named: Self.app))
    return ChannelTable.Key(
      topic: topic, environment: stage.emulator.options.environment, id: Self.channel)
  }

  func end() {
    ben.driver.tell(.stop)
    stage.end()
  }

  private func rest(until isDone: () -> Bool = { true }) throws {
    try stage.rest("the step") { ben.isAtRest && isDone() }
  }

  func play(_ step: SameStoryTests.Step) throws -> (scenario: [String], device: [String]) {
    switch step {
    case .person(let text):
      let value = try #require(JSONReader.read(Array(text.utf8)))
      try anna.perform(try PhoneOrder(value))
      ben.phone.take(PhoneOrderCommand(number: 1, order: Array(text.utf8)))
    case .push(let payload, let type, let context):
      try push(payload, context) { $0.type = type }
    case .silent(let interface):
      try push(#"{"aps":{"content-available":1}}"#, nil) {
        ($0.by, $0.command) = (ScenarioPush.Interface(rawValue: interface) ?? .http2, 1)
      }
    case .broadcast(let payload): try broadcast(payload)
    case .remove:
      for udid in [anna.udid, ben.udid] {
        _ = stage.emulator.change(.remove, Self.app, on: udid, in: stage.emulator.options.environment)
      }
    }
    try rest()
    return (anna.takeEvents().map(\.line), ben.takeEvents().map(\.line))
  }

  private func push(
    _ payload: String, _ context: TokenContext?, _ change: (inout ScenarioPush) -> Void
  ) throws {
    var push = ScenarioPush()
    push.payload = .string(payload)
    push.credential = context == nil ? .certificate : .key
    change(&push)
    let topic = try #require(context == nil ? Self.app : Self.app.topic(for: .liveactivity))
    for (tokens, contexts) in [(anna.tokens, anna.contextTokens), (ben.tokens, ben.contextTokens)] {
      let token = context.map { contexts[TokenNeed(topic, $0)] } ?? tokens[Self.app]
      // An app that was removed has none any more.
      guard let token else { continue }
      let attempt = try stage.provider.send(push, to: token.bytes, topic, named: "phone")
      defer { attempt.end() }
      try rest { attempt.outcome != nil }
      #expect(attempt.outcome?.isAccepted == true, "\(attempt.outcome?.text ?? "no answer")")
    }
  }

  private func broadcast(_ payload: String) throws {
    let (broker, key) = (stage.emulator.broker, try channel())
    let (before, now) = ((anna.eventCount, ben.events.count), stage.emulator.clock.now())
    let bytes = Array(payload.utf8)
    bytes.withUnsafeBytes { bytes in
      let submission = Submission(
        interface: .provider, topic: key.topic, environment: key.environment,
        token: .init(start: nil, count: 0), payload: bytes)
      _ = broker.broadcasts.send(submission, to: key, storageSeconds: 0, now: now)
    }
    // Nobody says that it has come but the phones themselves.
    try rest { anna.eventCount > before.0 && ben.events.count > before.1 }
  }
}

/// What the command `device` has: a driver with a phone.
private final class DeviceSide: DeviceOwner {
  let udid: UDID
  let phone: DevicePhone
  let driver: DeviceDriver
  private(set) var events: [PhoneEvent] = []
  private(set) var tokens: [Topic: DeviceToken] = [:]
  private(set) var contextTokens: [TokenNeed: DeviceToken] = [:]
  private var isConnected = false
  private let emulator: Emulator
  private let identity: DeviceIdentity

  init(_ udid: UDID, _ app: Topic, _ emulator: Emulator, _ credentials: ScenarioCredentials) throws {
    (self.udid, self.emulator) = (udid, emulator)
    identity = try credentials.identity(of: udid, by: emulator)
    phone = DevicePhone(activityTypes: ["Game"], loop: emulator.loop)
    let device = SimulatedDevice(
      state: DeviceState(udid: udid), topics: [app], isActivated: true, hasPhone: true, seed: 1)
    driver = DeviceDriver(
      device, identity: identity, phone: phone, loop: emulator.loop,
      environment: emulator.options.environment,
      context: try TLSContext.client(ca: emulator.ports.ca, policy: TLSPolicy())
    ) {
      guard let address = emulator.ports["courier"] else { throw StageError("there is no courier") }
      return address
    }
    driver.owner = self
    driver.tell(.start)
  }

  var isAtRest: Bool {
    let app = phone.joined.phone
    return isConnected && driver.isSubscribed && !phone.joined.isRenewing
      && phone.now == emulator.clock.now()
      && emulator.listens(udid) == (app.settings.hasNetwork && !tokens.isEmpty)
      && driver.state.apps.allSatisfy { tokens[$0.topic] != nil }
      && Set(app.wantedTokens) == Set(contextTokens.keys)
  }

  func takeEvents() -> [PhoneEvent] {
    defer { events = [] }
    return events
  }

  func activate(_ udid: UDID) throws -> DeviceIdentity { identity }
  func keep(_ state: DeviceState) {}
  func phoneTold(_ told: [DevicePhone.Told]) { events += told.map(\.event) }
  func deviceFailed(_ error: any Error) { Issue.record("\(error)") }

  func deviceTold(_ event: DeviceEvent) {
    switch event {
    case .connected: isConnected = true
    case .token(let topic, let token): tokens[topic] = token
    case .contextToken(let need, let token): contextTokens[need] = token
    case .contextEnded(let need): contextTokens[need] = nil
    case .app(_, .removed): (tokens, contextTokens) = ([:], [:])
    default: break
    }
  }
}

extension PhoneEvent {
  /// Without the token, which is each phone's own.
  fileprivate var line: String {
    var detail = what.detail
    if case .token = what { detail = "" }
    return [what.name, detail, rule.rawValue, argument].filter { !$0.isEmpty }.joined(separator: " ")
  }
}
