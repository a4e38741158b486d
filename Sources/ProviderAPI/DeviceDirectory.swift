import PushModel

/// What the checks ask of the token map. Implemented over the broker.
public protocol DeviceDirectory: AnyObject {
  /// A number for a topic, so that its name is looked up once and not for every request; nil when there are too many.
  func handle(of topic: Topic) -> TopicID?
  /// Whether such a number is still the topic's.
  func isCurrent(_ handle: TopicID) -> Bool
  /// What a token is worth for a topic in an environment.
  func standing(
    of token: DeviceToken, topic: TopicID?, environment: Environment, now: Timestamp
  ) -> DeviceTokenStanding
  /// The name of a topic that a token was issued for.
  func name(of topic: TopicID) -> String
  /// What an unknown token is, for people.
  func unknown(_ digits: UnsafeRawBufferPointer) -> Phrase
  /// What the token map calls a token of another length than it gives, if such are known there; nil else.
  func token(spelled digits: UnsafeRawBufferPointer) -> DeviceToken?
  /// Whether a push registers its token that is nobody's, once it has passed all checks and whatever else may stand against
  /// it, with the token of a team or with a certificate. Registers nothing.
  func adoption(of token: DeviceToken, spelled digits: UnsafeRawBufferPointer, topic: TopicID?, team: String?)
    -> TokenAdoption
  /// Whether this push would be one too many in a row for its device (`Documentation/provider-api.md#reasons`
  /// `TooManyRequests`, `Documentation/provider-api.md#open-questions`). Called only for requests that pass everything
  /// else.
  func isFlooded(_ token: DeviceToken) -> Bool
}

/// What is to become of a token that is nobody's.
public enum TokenAdoption: Equatable, Sendable {
  /// Nobody here knows it, and somebody else has to be asked.
  case elsewhere
  /// Tokens are not registered by pushes.
  case unwanted
  /// There are so many already that were.
  case full(limit: Int)
  /// Nobody has an app with this topic, and the team has brought so many of those already.
  case teamIsFull(limit: Int)
  /// It is registered when its push is taken.
  case wanted
}
