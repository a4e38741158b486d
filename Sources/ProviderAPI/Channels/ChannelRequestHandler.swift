import PushModel

/// Answers the channel management requests of one connection (`spec/provider-protocol.md` F.1, F.3).
public final class ChannelRequestHandler {
  private let context: RequestContext
  private let directory: any ChannelDirectory
  private let identification: PolicyList
  private let ownership: PolicyList

  public init(
    identity: ProviderIdentity, environment: Environment, directory: any ChannelDirectory,
    messageIDs: MessageIDGenerator, options: ProviderCheckOptions = ProviderCheckOptions()
  ) {
    context = RequestContext(
      identity: identity, environment: environment, options: options, messageIDs: messageIDs)
    self.directory = directory
    identification = PolicyList(policies: [
      RepeatedFieldPolicy(), MessageIDPolicy(fields: [.apnsRequestId]), AuthenticationPolicy(),
      BundlePolicy(directory: directory),
    ])
    ownership = PolicyList(policies: [ChannelPolicy(directory: directory)])
  }

  /// Whether a request of this connection has shown a valid provider token.
  public var hasAuthenticated: Bool { context.hasAuthenticated }

  /// Judges one whole request and carries it out.
  public func answer(_ message: HTTPMessage, now: Timestamp) -> ChannelAnswer {
    context.begin(message, now: now, idFields: [.apnsRequestId])
    switch ChannelRoute.find(method: message[.method], path: message[.path]) {
    case .failure(let refusal): return refused(refusal)
    case .success(let found):
      context.pathTail = found.bundle
      if let refusal = identification.refusal(context) { return refused(refusal) }
      guard let bundle = context.topic?.topic else { return refused(.unread) }
      return found.0 == .list || found.0 == .create
        ? answer(found.0, bundle, message) : answerAboutChannel(found.0, bundle)
    }
  }

  private func answer(_ route: ChannelRoute, _ bundle: Topic, _ message: HTTPMessage) -> ChannelAnswer {
    if route == .list { return list(bundle) }
    switch ChannelConfiguration.read(message.body, byteCount: message.bodyByteCount) {
    case .failure(let refusal): return refused(refusal)
    case .success(let storage): return create(bundle, storage)
    }
  }

  private func create(_ bundle: Topic, _ storage: ChannelStorage) -> ChannelAnswer {
    guard let channel = directory.createChannel(bundle, context.environment, storage: storage) else {
      return refused(
        Refusal(
          .cannotCreateChannelConfig, rule: "channels of a bundle id (F.1)",
          expected: "at most \(ChannelLimits.channels)", got: "one more"))
    }
    return ChannelAnswer(status: 201, requestID: context.messageID(), channelID: channel)
  }

  private func list(_ bundle: Topic) -> ChannelAnswer {
    let channels = directory.channels(bundle, context.environment).map { JSONValue.string($0.text) }
    let body = JSONValue.object([("channels", .array(channels))]).encoded
    return ChannelAnswer(status: 200, requestID: context.messageID(), body: body)
  }

  private func answerAboutChannel(_ route: ChannelRoute, _ bundle: Topic) -> ChannelAnswer {
    if let refusal = ownership.refusal(context) { return refused(refusal) }
    guard let (channel, storage) = context.channel else { return refused(.unread) }
    guard route == .delete else {
      let body: JSONValue = [
        "message-storage-policy": .integer(Int64(storage.rawValue)), "push-type": "LiveActivity",
      ]
      return ChannelAnswer(status: 200, requestID: context.messageID(), body: body.encoded)
    }
    _ = directory.deleteChannel(channel, bundle, context.environment)
    return ChannelAnswer(status: 204, requestID: context.messageID())
  }

  private func refused(_ refusal: Refusal) -> ChannelAnswer { ChannelAnswer(context.rejected(refusal)) }
}
