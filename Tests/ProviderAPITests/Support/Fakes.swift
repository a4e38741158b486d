import Basics
import ProviderAPI
import PushModel

/// A token map with a few tokens.
final class FakeDirectory: DeviceDirectory {
  func name(of topic: TopicID) -> String { "com.example.issued" }
  var topics: [Topic] = []
  var handleCalls = 0
  var standingCalls = 0
  var floodedTokens: Set<DeviceToken> = []
  var standings: [DeviceToken: [String: DeviceTokenStanding]] = [:]

  func handle(of topic: Topic) -> TopicID? {
    handleCalls += 1
    if let known = topics.firstIndex(of: topic) { return TopicID(known) }
    topics.append(topic)
    return TopicID(topics.count - 1)
  }

  /// Topics make room for others all the time.
  var isForgetful = false

  func isCurrent(_ handle: TopicID) -> Bool { !isForgetful }

  func standing(
    of token: DeviceToken, topic: TopicID?, environment: Environment, now: Timestamp
  ) -> DeviceTokenStanding {
    standingCalls += 1
    guard let known = standings[token] else { return .unknown }
    guard environment == .sandbox else { return .otherEnvironment }
    guard let topic else { return .unknown }
    return known[topics[topic.index].name] ?? .otherTopic(topic)
  }

  func isFlooded(_ token: DeviceToken) -> Bool { floodedTokens.contains(token) }
  func token(spelled digits: Span<UInt8>) -> DeviceToken? { nil }
  func problem(
    ofUnknown token: DeviceToken, spelled digits: Span<UInt8>, topic: TopicID?, team: String?
  ) -> Phrase? { "one that was never issued" }
}

/// Accepts the provider token `good`; others stand for what is wrong with them.
final class FakeTokens: ProviderTokenChecking {
  let grant = ProviderGrant(keyID: "ABC123DEFG", teamID: "DEF123GHIJ")
  let scopedGrant = ProviderGrant(
    keyID: "ABC123DEFH", teamID: "DEF123GHIJ", topics: [Sample.topic("com.example.app")])
  var seen: [String] = []

  func check(_ token: Span<UInt8>, now: Timestamp) -> ProviderTokenVerdict {
    let text = token.text
    seen.append(text)
    switch text {
    case "good": return .granted(grant)
    case "scoped": return .granted(scopedGrant)
    default:
      let rejection = Rejection(reason: text) ?? .invalidProviderToken
      return .refused(rejection, Explanation(rule: "E", expected: "a valid token", got: "another"))
    }
  }
}

/// The request of `Documentation/provider-api.md#example-push`, and changes of it.
enum Sample {
  static let token = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  static let gone = String(repeating: "ee", count: 32)
  static let expired = String(repeating: "ed", count: 32)
  static let unknown = String(repeating: "ff", count: 32)
  static let id = "11111111-2222-4333-8444-555555555555"
  static let goneAt = Timestamp(seconds: 1_700_000_000)
  static let now = Timestamp(seconds: 1_700_003_600)
  static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

  static let fields = [
    (":method", "POST"), (":scheme", "https"), (":path", "/3/device/\(token)"),
    (":authority", "api.sandbox.push.apple.com"), ("authorization", "bearer good"),
    ("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10"),
    ("apns-expiration", "0"), ("apns-id", id),
  ]

  /// The sample with some fields set to another value, or removed (nil).
  static func message(
    _ changes: [(String, String?)] = [], extra: [(String, String)] = [], body: [UInt8] = payload
  ) -> HTTPMessage {
    var fields = self.fields
    for (name, value) in changes {
      let place = fields.firstIndex { $0.0 == name }
      switch (place, value) {
      case (let place?, let value?): fields[place].1 = value
      case (let place?, nil): fields.remove(at: place)
      case (nil, let value?): fields.append((name, value))
      case (nil, nil): break
      }
    }
    var message = HTTPMessage()
    for (name, value) in fields + extra { message.append(name: name, value: value) }
    message.appendBody(body.span)
    return message
  }

  static func topic(_ name: String) -> Topic {
    guard let topic = Topic(name) else { preconditionFailure("not a topic: \(name)") }
    return topic
  }

  static func token(_ hex: String) -> DeviceToken {
    guard let token = DeviceToken(hex: hex) else { preconditionFailure("not a token: \(hex)") }
    return token
  }

  static func directory() -> FakeDirectory {
    let directory = FakeDirectory()
    let suffixes = [""] + PushType.allCases.map(\.topicSuffix)
    let standings = Dictionary(
      suffixes.map { ("com.example.app\($0)", DeviceTokenStanding.active(RegistrationID(0))) },
      uniquingKeysWith: { $1 })
    directory.standings[token(token)] = standings
    directory.standings[token(gone)] = ["com.example.app": .unregistered(since: goneAt)]
    directory.standings[token(expired)] = ["com.example.app": .expired(since: goneAt)]
    return directory
  }

  static func certificate(
    _ topics: [String] = ["com.example.app"], implied: String? = "com.example.app",
    environments: Set<Environment> = [.sandbox]
  ) -> ProviderIdentity {
    .certificate(
      ProviderCertificate(
        topics: Set(topics.map(topic)), impliedTopic: implied.map(topic), environments: environments))
  }

  static func check(
    _ identity: ProviderIdentity? = nil, environment: Environment = .sandbox,
    directory: FakeDirectory = directory(), options: ProviderCheckOptions = ProviderCheckOptions()
  ) -> ProviderRequestCheck {
    ProviderRequestCheck(
      identity: identity ?? .token(FakeTokens()), environment: environment, directory: directory,
      apnsIDs: APNSIDGenerator(seed: 7), options: options)
  }
}

extension ProviderVerdict {
  var rejected: RejectedRequest? {
    if case .rejected(let rejected) = self { return rejected }
    return nil
  }

  var accepted: Accepted? {
    if case .accepted(let accepted) = self { return accepted }
    return nil
  }
}
