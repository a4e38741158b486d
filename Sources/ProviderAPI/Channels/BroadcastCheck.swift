import PushModel

/// Decides about the broadcasts of one connection: accepted, or refused for the first reason in an order like that of
/// device pushes (`Documentation/provider-api.md#broadcast`, `#channel-reasons`, `#order-of-checks`).
public final class BroadcastCheck {
  private let context: RequestContext
  private let policies: PolicyList

  public init(
    identity: ProviderIdentity, environment: Environment, directory: any ChannelDirectory,
    apnsIDs: APNSIDGenerator, options: ProviderCheckOptions = ProviderCheckOptions()
  ) {
    // One of Apple's samples names the request by `apns-id` (`Documentation/provider-api.md#broadcast`).
    context = RequestContext(
      identity: identity, environment: environment, options: options, apnsIDs: apnsIDs,
      idFields: [.apnsRequestId, .apnsId])
    policies = PolicyList(policies: [
      MethodPolicy(), PathPolicy.broadcast, RepeatedFieldPolicy(), APNSIDPolicy(),
      AuthenticationPolicy(),
      BroadcastPushTypePolicy(), PriorityPolicy(isRequired: true), ExpirationPolicy(isRequired: true),
      BundlePolicy(directory: directory),
      ChannelPolicy(directory: directory), UnstoredExpirationPolicy(),
      PayloadPolicy(limit: Limits.broadcastPayload), ChannelFloodPolicy(directory: directory),
    ])
  }

  /// Whether a request is meant for this check and not for `ProviderRequestCheck`.
  public static func isBroadcast(_ message: HTTPMessage) -> Bool { PathPolicy.broadcast.matches(message) }

  /// Whether a request of this connection has shown a valid provider token.
  public var hasAuthenticated: Bool { context.hasAuthenticated }

  /// Judges one whole request. What is lent by the verdict stays valid until `message` is reset.
  public func judge(_ message: HTTPMessage, now: Timestamp) -> BroadcastVerdict {
    context.begin(message, now: now)
    if let refusal = policies.refusal(context) { return .rejected(context.rejected(refusal)) }
    guard let bundle = context.topic?.topic, let (channel, storage) = context.channel,
      let priority = context.priority, let expiration = context.expiration
    else { return .rejected(context.rejected(.unread)) }
    return .accepted(
      AcceptedBroadcast(
        bundle: bundle, channel: channel, storage: storage, priority: priority, expiration: expiration,
        requestID: context.apnsID(), payload: message.body, waived: context.waived))
  }
}

/// A broadcast that passed every check (`Documentation/provider-api.md#broadcast`).
public struct AcceptedBroadcast {
  public var bundle: Topic
  public var channel: ChannelID
  public var storage: ChannelStorage
  public var priority: Priority
  /// UNIX seconds, 0 for "try once".
  public var expiration: Int64
  /// Goes out as `apns-request-id`.
  public var requestID: APNSID
  /// The body, lent until the message is reset.
  public var payload: UnsafeRawBufferPointer
  /// What strict would have answered; empty unless the check is lenient.
  public var waived: [Waiver]
}

/// The outcome of a broadcast request; there is always exactly one.
public enum BroadcastVerdict {
  case accepted(AcceptedBroadcast)
  case rejected(RejectedRequest)
}
