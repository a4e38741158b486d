import PushModel

/// What the checks ask of the token map. Implemented over the broker.
public protocol DeviceDirectory: AnyObject {
  /// A number for a topic, so that its name is looked up once and not for every request. It stays the topic's for good.
  func handle(of topic: Topic) -> TopicID?
  /// What a token is worth for a topic in an environment.
  func standing(
    of token: DeviceToken, topic: TopicID?, environment: Environment, now: Timestamp
  ) -> DeviceTokenStanding
  /// Whether this push would be one too many in a row for its device (`Documentation/provider-api.md#reasons`
  /// `TooManyRequests`, `Documentation/provider-api.md#open-questions`). Called only for requests that pass everything
  /// else.
  func isFlooded(_ token: DeviceToken) -> Bool
}
