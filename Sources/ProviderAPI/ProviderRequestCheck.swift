import Basics
import PushModel

/// Decides about the pushes of one connection: accepted, or refused for the first reason in Apple's order
/// (`Documentation/provider-api.md#order-of-checks`).
///
/// Make one for each connection (each request, on the console): it holds the connection's identity, and what the connection
/// has shown. Pure: time, token map, keys and randomness are given to it.
public final class ProviderRequestCheck {
  private var rules: PushRules

  public init(
    identity: ProviderIdentity, environment: Environment, directory: any DeviceDirectory,
    apnsIDs: APNSIDGenerator, options: ProviderCheckOptions = ProviderCheckOptions()
  ) {
    let context = RequestContext(
      identity: identity, environment: environment, options: options, apnsIDs: apnsIDs,
      idFields: [.apnsId])
    rules = PushRules(context, directory)
  }

  /// Whether a request of this connection has shown a valid provider token, so that it may open more streams
  /// (`Documentation/provider-api.md#settings`).
  public var hasAuthenticated: Bool { rules.context.hasAuthenticated }

  /// Judges one whole request.
  public func judge(_ message: HTTPMessage, now: Timestamp) -> ProviderVerdict<AcceptedNotification> {
    rules.judge(message, now: now)
  }

  /// Refuses a request for a reason that is not in it: shutting down, a provoked fault, the store.
  public func refuse(_ message: HTTPMessage, _ rejection: Rejection, got: Phrase) -> RejectedRequest {
    rules.refuse(message, rejection, got: got)
  }
}

/// The rules of pushes, with what they have read of the request. A struct, as a class is asked for exclusive access at each look.
private struct PushRules {
  private(set) var context: RequestContext
  private let directory: any DeviceDirectory
  private var topics = TopicMemory()

  init(_ context: RequestContext, _ directory: any DeviceDirectory) {
    (self.context, self.directory) = (context, directory)
  }

  mutating func judge(_ message: HTTPMessage, now: Timestamp) -> ProviderVerdict<AcceptedNotification> {
    context.begin(message, now: now)
    do throws(Refusal) { try check(message) } catch { return .rejected(context.rejected(error)) }
    guard let token = context.token, let topic = context.topic else {
      return .rejected(context.rejected(.unread))
    }
    return .accepted(
      AcceptedNotification(
        token: token, topic: topic.topic, topicHandle: topic.handle, registration: context.registration,
        team: context.registration == nil ? context.grant?.teamID : nil,
        pushType: context.pushType ?? PushType.implied(by: topic.topic),
        priority: context.priority ?? .immediate, saysPriority: context.priority != nil,
        expiration: context.expiration,
        apnsID: context.apnsID(), waived: context.waived))
  }

  /// Apple's order. Authentication before the token is certain, the rest is the documentation's advice.
  private mutating func check(_ message: HTTPMessage) throws(Refusal) {
    try context.checkMethod(of: message)
    let digits = try context.readPath(.device, of: message)
    try context.checkRepeatedFields(of: message)
    try context.checkAPNSID(of: message)
    try context.authenticate(message)
    try context.readPushType(of: message)
    try context.readPriority(of: message)
    try context.readExpiration(of: message)
    try context.checkCollapseID(of: message)
    try readTopic(message[.apnsTopic])
    try findToken(digits)
    try context.checkPayload(of: message, limit: payloadLimit)
    try checkFlood()
  }

  func refuse(_ message: HTTPMessage, _ rejection: Rejection, got: Phrase) -> RejectedRequest {
    let own = message[.apnsId].flatMap { APNSID($0) }
    let explanation = Explanation(
      rule: Phrase(rejection.reason), expected: "nothing of the request", got: got)
    return RejectedRequest(rejection, apnsID: own ?? context.apnsIDs.next(), explanation: explanation)
  }
}

/// There is a topic, it is well formed, and this provider may push to it
/// (`Documentation/provider-api.md#order-of-checks` step 5; `#topics-extension`, `#push-types`).
extension PushRules {
  private mutating func readTopic(_ bytes: Span<UInt8>?) throws(Refusal) {
    guard let bytes, !bytes.isEmpty else { return try readImpliedTopic() }
    if let known = topics.find(bytes, context.pushType, context.grant), let handle = known.handle,
      directory.isCurrent(handle)
    {
      return context.topic = known
    }
    guard let topic = Topic(bytes.text) else {
      throw Refusal(
        .badTopic, rule: Rule.topic,
        expected: "at most \(Topic.maximumByteCount) letters, digits, dots, hyphens and underscores",
        got: .quoted(bytes))
    }
    try judge(topic)
    if context.waived.isEmpty, let found = context.topic {
      topics.remember(found, bytes, context.pushType, context.grant)
    }
  }

  /// A certificate for a single topic implies it (`Documentation/provider-api.md#topics-extension`).
  private mutating func readImpliedTopic() throws(Refusal) {
    guard case .certificate(let certificate) = context.identity, let topic = certificate.impliedTopic else {
      throw Refusal(
        .missingTopic, rule: Rule.topic,
        expected: "a topic: a provider token or a certificate for several topics does not imply one",
        got: "none")
    }
    try judge(topic)
  }

  private mutating func judge(_ topic: Topic) throws(Refusal) {
    context.topic = RememberedTopic(topic: topic, handle: directory.handle(of: topic))
    if !context.allows(topic) {
      try context.enforce(
        Refusal(
          .topicDisallowed, rule: Rule.topicsOfProvider,
          expected: Phrase(context.identity.coverage(context.grant)),
          got: context.pushType.map { "\(topic.name) with push type \($0.name)" } ?? Phrase(topic.name)))
    }
    guard let rejection = context.options.suffixMismatch, let pushType = context.pushType,
      !pushType.fits(topic)
    else { return }
    throw Refusal(
      rejection, rule: Rule.topicOfPushType,
      expected: pushType.topicSuffix.isEmpty
        ? "a topic without a suffix" : "a topic ending in \(pushType.topicSuffix)",
      got: Phrase(topic.name))
  }
}

/// The path names a device token that is good for the topic here and now
/// (`Documentation/provider-api.md#order-of-checks` step 6).
extension PushRules {
  private mutating func findToken(_ digits: Span<UInt8>) throws(Refusal) {
    guard !digits.isEmpty else {
      throw Refusal(
        .missingDeviceToken, rule: Rule.deviceToken, expected: "a device token after /3/device/", got: "none")
    }
    guard let token = DeviceToken(hexDigits: digits) ?? directory.token(spelled: digits) else {
      throw Refusal(
        .badDeviceToken, rule: Rule.deviceToken, expected: "\(2 * DeviceToken.byteCount) hexadecimal digits",
        got: "\(digits.count) characters \(Phrase.quoted(digits))")
    }
    context.token = token
    let standing = directory.standing(
      of: token, topic: context.topic?.handle, environment: context.environment, now: context.now)
    if case .active(let row) = standing { return context.registration = row }
    if let refusal = refusal(standing, token, digits) { throw refusal }
  }

  /// Why a token is refused that is not plainly good.
  private func refusal(
    _ standing: DeviceTokenStanding, _ token: DeviceToken, _ digits: Span<UInt8>
  ) -> Refusal? {
    let other = context.environment.other
    return switch standing {
    case .active: nil
    case .unknown:
      directory.problem(
        ofUnknown: token, spelled: digits, topic: context.topic?.handle, team: context.grant?.teamID
      ).map { refusal(.badDeviceToken, got: $0) }
    case .otherEnvironment:
      refusal(.badDeviceToken, got: "one of \(other.name), whose host is \(other.host(of: "api"))")
    case .unregistered(let since):
      refusal(
        .unregistered, got: "one whose app or Live Activity was reported gone at \(since)", goneAt: since)
    case .expired(let since):
      refusal(.expiredToken, got: "one that expired at \(since)", goneAt: since)
    case .otherTopic(let other):
      refusal(.deviceTokenNotForTopic, got: "one of \(directory.name(of: other))")
    }
  }

  private func refusal(_ rejection: Rejection, got: Phrase, goneAt: Timestamp? = nil) -> Refusal {
    let topic = context.topic?.topic.name ?? ""
    return Refusal(
      rejection, rule: Rule.deviceToken, expected: "a token of \(topic) in \(context.environment.name)",
      got: got, goneAt: goneAt)
  }

  /// Of the push type; a request without one is a VoIP push if its topic is one.
  private var payloadLimit: Int {
    if let pushType = context.pushType { return pushType.maximumPayload }
    let isVoIP = context.topic?.topic.name.hasSuffix(PushType.voip.topicSuffix) ?? false
    return isVoIP ? Limits.voipPayload : Limits.providerPayload
  }

  /// The device has not had too many pushes in a row (`Documentation/provider-api.md#order-of-checks` step 8).
  private func checkFlood() throws(Refusal) {
    guard let token = context.token, directory.isFlooded(token) else { return }
    throw Refusal(
      .tooManyRequests, rule: Rule.flood, expected: "fewer pushes in a row to this token", got: "one too many"
    )
  }
}

extension PushType {
  /// Whether a topic has this type's suffix, and no other's.
  fileprivate func fits(_ topic: Topic) -> Bool {
    guard topicSuffix.isEmpty else { return topic.name.hasSuffix(topicSuffix) }
    return !PushType.topicSuffixes.contains { topic.name.hasSuffix($0) }
  }
}

/// A topic that this connection has been found to be allowed.
struct RememberedTopic {
  var topic: Topic
  var handle: TopicID?
}

/// The topics a connection used last: most connections push to one or two, and reading, judging and looking up a topic costs
/// more than all other checks together.
private struct TopicMemory {
  /// How many are remembered.
  private static let capacity = 8

  /// An object, so that looking at one does not count the references to everything in it.
  private final class Entry {
    let topic: RememberedTopic
    private let bytes: [UInt8]
    private let pushType: PushType?
    private let grant: ProviderGrant?

    init(
      _ topic: RememberedTopic, _ bytes: Span<UInt8>, _ pushType: PushType?,
      _ grant: ProviderGrant?
    ) {
      (self.topic, self.bytes, self.pushType, self.grant) = (topic, Array(bytes), pushType, grant)
    }

    func isFor(_ other: Span<UInt8>, _ otherType: PushType?, _ otherGrant: ProviderGrant?) -> Bool {
      let bytes = bytes
      return grant === otherGrant && pushType == otherType && bytes.span.hasSameBytes(as: other)
    }
  }

  private var entries: [Entry] = []

  func find(_ bytes: Span<UInt8>, _ pushType: PushType?, _ grant: ProviderGrant?)
    -> RememberedTopic?
  {
    entries.first { $0.isFor(bytes, pushType, grant) }?.topic
  }

  mutating func remember(
    _ topic: RememberedTopic, _ bytes: Span<UInt8>, _ pushType: PushType?, _ grant: ProviderGrant?
  ) {
    entries.removeAll { $0.isFor(bytes, pushType, grant) }
    if entries.count == Self.capacity { entries.removeFirst() }
    entries.append(Entry(topic, bytes, pushType, grant))
  }
}

/// Where Apple's behaviour is disputed or a user may want it otherwise.
public struct ProviderCheckOptions: Sendable {
  /// Accept what can't be verified, and note what strict would have answered
  /// (`Documentation/configuration.md#flags-of-serve`).
  public var isLenient = false
  /// `background` with an explicit priority of 10 is `BadPriority` (`Documentation/provider-api.md#what-apns-looks-at`,
  /// `#open-questions`).
  public var refusesUrgentBackground = true
  /// Apple's documented word where another one was seen on the wire (`Documentation/provider-api.md#channel-reasons`).
  public var usesDocumentedReasons = false
  /// What to answer when the topic's suffix is not the push type's; nil accepts
  /// (`Documentation/provider-api.md#example-push`, last row).
  public var suffixMismatch: Rejection?

  public init() {}
}

/// Makes the ids of requests that brought none, the same ones from the same seed (`Sources/ARCHITECTURE.md#promises`
/// 5).
public final class APNSIDGenerator {
  private var choices: SeededChoices

  public init(seed: UInt64) { choices = SeededChoices(seed: seed) }

  /// Upper case and not a version-4 UUID, as Apple's are (`Documentation/provider-api.md#response`).
  public func next() -> APNSID { APNSID(high: choices.next(), low: choices.next()) }
}
