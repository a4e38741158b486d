import PushModel

/// Decides about the pushes of one connection: accepted, or refused for the first reason in Apple's order
/// (`Documentation/provider-api.md#order-of-checks`).
///
/// Make one for each connection (each request, on the console): it holds the connection's identity, and what the connection
/// has shown. Pure: time, token map, keys and randomness are given to it.
public final class ProviderRequestCheck {
  private let context: RequestContext
  private let policies: PolicyList

  public init(
    identity: ProviderIdentity, environment: Environment, directory: any DeviceDirectory,
    apnsIDs: APNSIDGenerator, options: ProviderCheckOptions = ProviderCheckOptions()
  ) {
    context = RequestContext(
      identity: identity, environment: environment, options: options, apnsIDs: apnsIDs,
      idFields: [.apnsId])
    policies = Self.order(directory)
  }

  /// Apple's order. Authentication before the token is certain, the rest is the documentation's advice.
  private static func order(_ directory: any DeviceDirectory) -> PolicyList {
    PolicyList(policies: [
      MethodPolicy(), PathPolicy.device, RepeatedFieldPolicy(),
      APNSIDPolicy(),
      AuthenticationPolicy(),
      PushTypePolicy(), PriorityPolicy(isRequired: false), ExpirationPolicy(isRequired: false),
      CollapseIDPolicy(),
      TopicPolicy(directory: directory),
      DeviceTokenPolicy(directory: directory),
      PayloadPolicy(limit: nil),
      FloodPolicy(directory: directory),
    ])
  }

  /// Whether a request of this connection has shown a valid provider token, so that it may open more streams
  /// (`Documentation/provider-api.md#settings`).
  public var hasAuthenticated: Bool { context.hasAuthenticated }

  /// Judges one whole request. What is lent by the verdict stays valid until `message` is reset.
  public func judge(_ message: HTTPMessage, now: Timestamp) -> ProviderVerdict {
    context.begin(message, now: now)
    if let refusal = policies.refusal(context) { return .rejected(context.rejected(refusal)) }
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
        collapseID: context.collapseID,
        apnsID: context.apnsID(), payload: message.body, waived: context.waived))
  }

  /// Refuses a request for a reason that is not in it: shutting down, a provoked fault, the store.
  public func refuse(_ message: HTTPMessage, _ rejection: Rejection, got: Phrase) -> RejectedRequest {
    let own = message[.apnsId].flatMap { APNSID($0) }
    let explanation = Explanation(
      rule: Phrase(rejection.reason), expected: "nothing of the request", got: got)
    return RejectedRequest(rejection, apnsID: own ?? context.apnsIDs.next(), explanation: explanation)
  }
}

/// Where Apple's behaviour is disputed or a user may want it otherwise.
public struct ProviderCheckOptions: Sendable {
  /// Accept what can't be verified, and note what strict would have answered
  /// (`Documentation/commands.md#flags-of-serve`).
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
