import PushModel

/// There is a body, and it is not too large for the push type (`Documentation/provider-api.md#order-of-checks` step 7).
/// What is in it does not matter (`Documentation/provider-api.md#what-apns-looks-at`, `#open-questions`).
struct PayloadPolicy: RequestPolicy {
  /// A limit of its own (broadcasts); nil for the push type's.
  let limit: Int?

  func refusal(_ context: RequestContext) -> Refusal? {
    let count = context.message.bodyByteCount
    guard count > 0 else {
      return Refusal(.payloadEmpty, rule: Rule.payload, expected: "a JSON body", got: "0 bytes")
    }
    let limit = self.limit ?? Self.limit(context)
    guard count <= limit else {
      return Refusal(
        .payloadTooLarge, rule: Rule.payload, expected: "at most \(limit) bytes", got: "\(count) bytes")
    }
    return nil
  }

  /// A request without a push type is a VoIP push if its topic is one.
  private static func limit(_ context: RequestContext) -> Int {
    if let pushType = context.pushType { return pushType.maximumPayload }
    let isVoIP = context.topic?.topic.name.hasSuffix(PushType.voip.topicSuffix) ?? false
    return isVoIP ? Limits.voipPayload : Limits.providerPayload
  }
}
