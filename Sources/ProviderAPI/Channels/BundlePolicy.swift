import PushModel

/// The bundle id in the path is one, without a push type's suffix, this provider's, and enabled for broadcasts
/// (`Documentation/provider-api.md#channel-reasons`).
struct BundlePolicy: RequestPolicy {
  let directory: any ChannelDirectory

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let bundle = Topic(String(decoding: context.pathTail, as: UTF8.self)) else {
      return Refusal(
        .badRequestParams, rule: Rule.bundle, expected: "a bundle id", got: .quoted(context.pathTail)
      )
    }
    if let suffix = ProviderGrant.suffixes.first(where: { bundle.name.hasSuffix($0) }) {
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
