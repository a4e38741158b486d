/// What a token is worth for a topic in an environment over HTTP. Of several truths the first in this order counts
/// (`Documentation/provider-api.md#order-of-checks`).
public enum DeviceTokenStanding: Equatable, Sendable {
  case unknown
  /// Issued in the other environment; the answer is the same as for an unknown one
  /// (`Documentation/provider-api.md#open-questions`).
  case otherEnvironment
  /// The app reported gone; the answer carries the time (`Documentation/provider-api.md#response`).
  case unregistered(since: Timestamp)
  /// Expired; the answer carries the time.
  case expired(since: Timestamp)
  /// Issued for this one.
  case otherTopic(TopicID)
  /// Nobody here knows it, and somebody else has to be asked.
  case elsewhere
  /// Good, and where the token map has it.
  case active(RegistrationID)
}
