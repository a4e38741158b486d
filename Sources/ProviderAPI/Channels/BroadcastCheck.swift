import Basics
import PushModel

/// Decides about the broadcasts of one connection: accepted, or refused for the first reason in an order like that of
/// device pushes (`Documentation/provider-api.md#broadcast`, `#channel-reasons`, `#order-of-checks`).
public final class BroadcastCheck {
  private let context: RequestContext
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
    message[.path]?.hasPrefix(RequestPath.broadcast.prefix) ?? false
  }

  /// Whether a request of this connection has shown a valid provider token.
  public var hasAuthenticated: Bool { context.hasAuthenticated }

  /// Judges one whole request. What is lent by the verdict stays valid until `message` is reset.
  public func judge(_ message: HTTPMessage, now: Timestamp) -> ProviderVerdict<AcceptedBroadcast> {
    context.begin(message, now: now)
    do throws(Refusal) { try check() } catch { return .rejected(context.rejected(error)) }
    guard let bundle = context.topic?.topic, let (channel, storage) = context.channel,
      let priority = context.priority, let expiration = context.expiration
    else { return .rejected(context.rejected(.unread)) }
    return .accepted(
      AcceptedBroadcast(
        bundle: bundle, channel: channel, storage: storage, priority: priority, expiration: expiration,
        requestID: context.apnsID(), payload: message.body, waived: context.waived))
  }

  private func check() throws(Refusal) {
    try context.checkMethod()
    try context.readPath(.broadcast)
    try context.checkRepeatedFields()
    try context.checkAPNSID()
    try context.authenticate()
    try checkPushType()
    try context.readPriority(isRequired: true)
    try context.readExpiration(isRequired: true)
    try context.readBundle(in: directory)
    try context.readChannel(in: directory)
    try checkUnstoredExpiration()
    try context.checkPayload(limit: Limits.broadcastPayload)
    try checkFlood()
  }

  /// `apns-push-type` of a broadcast is there and is `liveactivity`, in any letter case
  /// (`Documentation/provider-api.md#broadcast`).
  private func checkPushType() throws(Refusal) {
    guard let value = context.message[.apnsPushType], !value.isEmpty else {
      throw Refusal(.missingPushType, rule: Rule.broadcastPushType, expected: "liveactivity", got: "none")
    }
    let word = ChannelConfiguration.pushType
    guard value.count == word.utf8CodeUnitCount, value.hasPrefix(word, ignoringCase: true) else {
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
