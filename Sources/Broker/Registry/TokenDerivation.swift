import PushModel

/// How tokens come to be (`Documentation/credentials.md#how-tokens-come-to-be`). Implemented by `Credentials`; the
/// registry only asks.
public protocol TokenDerivation {
  /// SHA-1 of the topic's UTF-8.
  func topicHash(_ topic: Topic) -> TopicHash
  /// The token of a topic on a device, for its n-th install.
  func appToken(environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32) -> DeviceToken
  /// The token of the device itself, for its n-th identity.
  func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken
}
