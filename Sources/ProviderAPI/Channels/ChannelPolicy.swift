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
