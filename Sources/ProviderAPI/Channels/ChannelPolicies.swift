import PushModel

/// `apns-channel-id` names a channel of the bundle id (`Documentation/provider-api.md#channel-management`,
/// `#broadcast`, `#channel-reasons`).
struct ChannelPolicy: RequestPolicy {
  let directory: any ChannelDirectory

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsChannelId], !value.isEmpty else {
      return Refusal(.missingChannelId, rule: Rule.channelID, expected: "a channel id", got: "none")
    }
    guard let channel = ChannelID(value) else {
      return Refusal(
        .badChannelId, rule: Rule.channelID,
        expected: "base64, at most \(ChannelID.maximumByteCount) characters",
        got: .quoted(value))
    }
    guard let bundle = context.topic?.topic else { return nil }
    guard let storage = directory.storage(of: channel, bundle, context.environment) else {
      return Refusal(
        .channelNotRegistered, rule: Rule.channelID,
        expected: "a channel of \(bundle.name) in \(context.environment.name)",
        got: .quoted(value))
    }
    context.channel = (channel, storage)
    return nil
  }
}

/// The bundle id in the path is one, without a push type's suffix, this provider's, and enabled for broadcasts
/// (`Documentation/provider-api.md#channel-reasons`).
struct BundlePolicy: RequestPolicy {
  let directory: any ChannelDirectory

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let bundle = Topic(String(decoding: context.pathTail, as: UTF8.self)) else {
      return Refusal(
        .badPath, rule: Rule.bundle, expected: "a bundle id", got: .quoted(context.pathTail)
      )
    }
    if let suffix = PushType.topicSuffixes.first(where: { bundle.name.hasSuffix($0) }) {
      return Refusal(
        .topicDisallowed, rule: Rule.bundle, expected: "a bundle id without \(suffix)",
        got: Phrase(bundle.name)
      )
    }
    context.topic = RememberedTopic(topic: bundle, handle: nil)
    if !context.allows(bundle) {
      let refusal = Refusal(
        .topicMismatch, rule: Rule.bundle, expected: Phrase(context.identity.coverage(context.grant)),
        got: Phrase(bundle.name))
      if let refusal = context.enforce(refusal) { return refusal }
    }
    guard directory.isBroadcastEnabled(bundle, context.environment) else {
      return Refusal(
        .featureNotEnabled, rule: Rule.bundle, expected: "a bundle id with the broadcast capability",
        got: Phrase(bundle.name))
    }
    return nil
  }
}

/// `apns-push-type` of a broadcast is there and is `liveactivity`, in any letter case
/// (`Documentation/provider-api.md#broadcast`).
struct BroadcastPushTypePolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsPushType], !value.isEmpty else {
      return Refusal(.missingPushType, rule: Rule.broadcastPushType, expected: "liveactivity", got: "none")
    }
    guard value.isSpelled(ChannelConfiguration.pushType, ignoringCase: true) else {
      return Refusal(
        .invalidPushType, rule: Rule.broadcastPushType, expected: "liveactivity", got: .quoted(value))
    }
    return nil
  }
}

/// A channel that stores nothing takes only broadcasts that are not to be stored
/// (`Documentation/provider-api.md#broadcast`).
struct UnstoredExpirationPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    guard context.channel?.storage == ChannelStorage.none, let expiration = context.expiration,
      expiration != 0
    else { return nil }
    return Refusal(
      .badExpirationDate, rule: Rule.unstoredExpiration, expected: "0",
      got: "\(expiration)")
  }
}

/// The channel has not had too many broadcasts in a row (`Documentation/provider-api.md#channel-reasons`,
/// `#order-of-checks` step 8).
struct ChannelFloodPolicy: RequestPolicy {
  let directory: any ChannelDirectory

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let channel = context.channel?.id, let bundle = context.topic?.topic,
      directory.isFlooded(channel, bundle, context.environment)
    else { return nil }
    return Refusal(
      .tooManyRequests, rule: Rule.channelFlood, expected: "fewer in a row to this channel",
      got: "one too many")
  }
}
