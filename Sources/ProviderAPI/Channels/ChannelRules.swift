import Basics
import PushModel

/// What requests about channels name: the bundle id of their path, and `apns-channel-id`.
extension RequestContext {
  /// The bundle id in the path is one, without a push type's suffix, this provider's, and enabled for broadcasts
  /// (`Documentation/provider-api.md#channel-reasons`).
  func readBundle(in directory: any ChannelDirectory) throws(Refusal) {
    guard let bundle = Topic(String(decoding: pathTail, as: UTF8.self)) else {
      throw Refusal(.badPath, rule: Rule.bundle, expected: "a bundle id", got: .quoted(pathTail))
    }
    if let suffix = PushType.topicSuffixes.first(where: { bundle.name.hasSuffix($0) }) {
      throw Refusal(
        .topicDisallowed, rule: Rule.bundle, expected: "a bundle id without \(suffix)",
        got: Phrase(bundle.name))
    }
    topic = RememberedTopic(topic: bundle, handle: nil)
    if !allows(bundle) {
      try enforce(
        Refusal(
          .topicMismatch, rule: Rule.bundle, expected: Phrase(identity.coverage(grant)),
          got: Phrase(bundle.name)))
    }
    guard directory.isBroadcastEnabled(bundle, environment) else {
      throw Refusal(
        .featureNotEnabled, rule: Rule.bundle, expected: "a bundle id with the broadcast capability",
        got: Phrase(bundle.name))
    }
  }

  /// `apns-channel-id` names a channel of the bundle id (`Documentation/provider-api.md#channel-management`,
  /// `#broadcast`, `#channel-reasons`).
  func readChannel(in directory: any ChannelDirectory) throws(Refusal) {
    guard let value = message[.apnsChannelId], !value.isEmpty else {
      throw Refusal(.missingChannelId, rule: Rule.channelID, expected: "a channel id", got: "none")
    }
    guard let id = ChannelID(value) else {
      throw Refusal(
        .badChannelId, rule: Rule.channelID,
        expected: "base64, at most \(ChannelID.maximumByteCount) characters", got: .quoted(value))
    }
    guard let bundle = topic?.topic else { return }
    guard let storage = directory.storage(of: id, bundle, environment) else {
      throw Refusal(
        .channelNotRegistered, rule: Rule.channelID,
        expected: "a channel of \(bundle.name) in \(environment.name)", got: .quoted(value))
    }
    channel = (id, storage)
  }
}
