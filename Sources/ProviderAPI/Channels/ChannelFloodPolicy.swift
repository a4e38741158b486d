import PushModel

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
