import Basics
import PushModel

/// Answers the channel management requests of one connection (`Documentation/provider-api.md#channel-management`,
/// `#channel-reasons`).
public final class ChannelRequestHandler {
  private var context: RequestContext
  private let directory: any ChannelDirectory

  public init(
    identity: ProviderIdentity, environment: Environment, directory: any ChannelDirectory,
    apnsIDs: APNSIDGenerator, options: ProviderCheckOptions = ProviderCheckOptions()
  ) {
    context = RequestContext(
      identity: identity, environment: environment, options: options, apnsIDs: apnsIDs,
      idFields: [.apnsRequestId])
    self.directory = directory
  }

  /// Judges one whole request and carries it out.
  public func answer(_ message: HTTPMessage, now: Timestamp) -> ChannelAnswer {
    context.begin(message, now: now)
    do throws(Refusal) {
      let (route, bundle) = try ChannelRoute.find(method: message[.method], path: message[.path])
      try context.checkRepeatedFields(of: message)
      try context.checkAPNSID(of: message)
      try context.authenticate(message)
      try context.readBundle(bundle.span, in: directory)
      guard let bundle = context.topic?.topic else { throw .unread }
      return try answer(route, bundle, message)
    } catch {
      return ChannelAnswer(context.rejected(error))
    }
  }

  /// Refuses a whole request for a reason that is not in it.
  public func refuse(
    _ message: HTTPMessage, _ rejection: Rejection, explanation: Explanation, now: Timestamp
  ) -> ChannelAnswer {
    context.begin(message, now: now)
    let goneAt = rejection.status == 410 ? now : nil
    return ChannelAnswer(context.rejected(Refusal(rejection, explanation, goneAt: goneAt)))
  }

  private func answer(_ route: ChannelRoute, _ bundle: Topic, _ message: HTTPMessage) throws(Refusal)
    -> ChannelAnswer
  {
    switch route {
    case .create:
      try create(
        bundle,
        ChannelConfiguration.read(message.body, byteCount: message.bodyByteCount, options: context.options))
    case .list: list(bundle)
    case .read: describe(try ownChannel(message).storage)
    case .delete: delete(try ownChannel(message).id, bundle)
    }
  }

  private func create(_ bundle: Topic, _ storage: ChannelStorage) throws(Refusal) -> ChannelAnswer {
    do throws(ChannelsFull) {
      let channel = try directory.createChannel(
        bundle, context.environment, storage: storage, team: context.grant?.teamID)
      return ChannelAnswer(status: 201, requestID: context.apnsID(), channelID: channel)
    } catch {
      throw Refusal(
        .cannotCreateChannelConfig, rule: Rule.channelCount, expected: error.phrase, got: "one more")
    }
  }

  private func list(_ bundle: Topic) -> ChannelAnswer {
    let channels = directory.channels(bundle, context.environment).map { JSONValue.string($0.text) }
    let body = JSONValue.object([("channels", .array(channels))]).encoded
    return ChannelAnswer(status: 200, requestID: context.apnsID(), body: body)
  }

  private func describe(_ storage: ChannelStorage) -> ChannelAnswer {
    let body = JSONValue.object([
      ("message-storage-policy", .integer(Int64(storage.rawValue))), ("push-type", "LiveActivity"),
    ])
    return ChannelAnswer(status: 200, requestID: context.apnsID(), body: body.encoded)
  }

  private func delete(_ channel: ChannelID, _ bundle: Topic) -> ChannelAnswer {
    _ = directory.deleteChannel(channel, bundle, context.environment)
    return ChannelAnswer(status: 204, requestID: context.apnsID())
  }

  private func ownChannel(_ message: HTTPMessage) throws(Refusal) -> (id: ChannelID, storage: ChannelStorage)
  {
    try context.readChannel(of: message, in: directory)
    guard let channel = context.channel else { throw .unread }
    return channel
  }
}

/// The answer to a channel management request (`Documentation/provider-api.md#channel-management`).
public struct ChannelAnswer: Sendable {
  public var status: Int
  /// Goes out as `apns-request-id`.
  public var requestID: APNSID
  /// Goes out as `apns-channel-id`.
  public var channelID: ChannelID?
  public var body: [UInt8]
  /// Set when the request was refused.
  public var rejected: RejectedRequest?

  init(status: Int, requestID: APNSID, channelID: ChannelID? = nil, body: [UInt8] = []) {
    (self.status, self.requestID) = (status, requestID)
    (self.channelID, self.body) = (channelID, body)
  }

  init(_ rejected: RejectedRequest) {
    (status, requestID) = (rejected.rejection.status, rejected.apnsID)
    body = rejected.body
    self.rejected = rejected
  }
}
