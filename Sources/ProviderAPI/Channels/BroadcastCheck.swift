import Basics
import PushModel

/// Decides about the broadcasts of one connection: accepted, or refused for the first reason in an order like that of
/// device pushes (`Documentation/provider-api.md#broadcast`, `#channel-reasons`, `#order-of-checks`).
public final class BroadcastCheck {
  private var context: RequestContext
  private let directory: any ChannelDirectory

  public init(
    identity: ProviderIdentity, environment: Environment, directory: any ChannelDirectory,
    apnsIDs: APNSIDGenerator, options: ProviderCheckOptions = ProviderCheckOptions()
  ) {
    // One of Apple's samples names the request by `apns-id` (`Documentation/provider-api.md#broadcast`).
    context = RequestContext(
      identity: identity, environment: environment, options: options, apnsIDs: apnsIDs,
      idFields: [.apnsRequestId, .apnsId])
    self.directory = directory
  }

  /// Whether a request is meant for this check and not for `ProviderRequestCheck`.
  public static func isBroadcast(_ message: HTTPMessage) -> Bool {
    message[.path].flatMap { $0.begins(with: RequestPath.broadcast.prefix) } ?? false
  }

  /// Whether a request of this connection has shown a valid provider token.
  public var hasAuthenticated: Bool { context.hasAuthenticated }

  /// Judges one whole request.
  public func judge(_ message: HTTPMessage, now: Timestamp) -> ProviderVerdict<AcceptedBroadcast> {
    context.begin(message, now: now)
    do throws(Refusal) { try check(message) } catch { return .rejected(context.rejected(error)) }
    guard let bundle = context.topic?.topic, let (channel, storage) = context.channel,
      let priority = context.priority, let expiration = context.expiration
    else { return .rejected(context.rejected(.unread)) }
    return .accepted(
      AcceptedBroadcast(
        bundle: bundle, channel: channel, storage: storage, priority: priority, expiration: expiration,
        requestID: context.apnsID(), waived: context.waived))
  }

  private func check(_ message: HTTPMessage) throws(Refusal) {
    try context.checkMethod(of: message)
    let bundle = try context.readPath(.broadcast, of: message)
    try context.checkRepeatedFields(of: message)
    try context.checkAPNSID(of: message)
    try context.authenticate(message)
    try checkPushType(message[.apnsPushType])
    try context.readPriority(of: message, isRequired: true)
    try context.readExpiration(of: message, isRequired: true)
    try context.readBundle(bundle, in: directory)
    try context.readChannel(of: message, in: directory)
    try checkUnstoredExpiration()
    try context.checkPayload(of: message, limit: Limits.broadcastPayload)
    try checkFlood()
  }

  /// `apns-push-type` of a broadcast is there and is `liveactivity`, in any letter case
  /// (`Documentation/provider-api.md#broadcast`).
  private func checkPushType(_ value: Span<UInt8>?) throws(Refusal) {
    guard let value, !value.isEmpty else {
      throw Refusal(.missingPushType, rule: Rule.broadcastPushType, expected: "liveactivity", got: "none")
    }
    let word = ChannelConfiguration.pushType
    guard value.count == word.utf8CodeUnitCount, value.begins(inAnyCaseWith: word) else {
      throw Refusal(
        .invalidPushType, rule: Rule.broadcastPushType, expected: "liveactivity", got: .quoted(value))
    }
  }

  /// A channel that stores nothing takes only broadcasts that are not to be stored
  /// (`Documentation/provider-api.md#broadcast`).
  private func checkUnstoredExpiration() throws(Refusal) {
    guard context.channel?.storage == ChannelStorage.none, let expiration = context.expiration,
      expiration != 0
    else { return }
    throw Refusal(
      .badExpirationDate, rule: Rule.unstoredExpiration, expected: "0", got: "\(expiration)")
  }

  /// The channel has not had too many broadcasts in a row (`Documentation/provider-api.md#channel-reasons`,
  /// `#order-of-checks` step 8).
  private func checkFlood() throws(Refusal) {
    guard let channel = context.channel?.id, let bundle = context.topic?.topic,
      directory.isFlooded(channel, bundle, context.environment)
    else { return }
    throw Refusal(
      .tooManyRequests, rule: Rule.channelFlood, expected: "fewer broadcasts in a row to this channel",
      got: "one too many")
  }
}

/// A broadcast that passed every check; its payload is in its message (`Documentation/provider-api.md#broadcast`).
public struct AcceptedBroadcast {
  public var bundle: Topic
  public var channel: ChannelID
  public var storage: ChannelStorage
  public var priority: Priority
  /// UNIX seconds, 0 for "try once".
  public var expiration: Int64
  /// Goes out as `apns-request-id`.
  public var requestID: APNSID
  /// What strict would have answered; empty unless the check is lenient.
  public var waived: [Waiver]
}
