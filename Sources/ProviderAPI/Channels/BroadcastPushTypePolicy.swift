import PushModel

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
