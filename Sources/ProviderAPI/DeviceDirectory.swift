import Basics
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
  /// What the token map calls a token of another length than it gives, if such are known there; nil else.
  func token(spelled digits: Span<UInt8>) -> DeviceToken?
  /// What is wrong with a token that is not known here, for people; nil if somebody else knows more of it, or if its push registers
  /// it, once that has passed all checks and whatever else may stand against it, with the token of a team or with a certificate.
  /// Registers nothing.
  func problem(
    ofUnknown token: DeviceToken, spelled digits: Span<UInt8>, topic: TopicID?, team: String?
  ) -> Phrase?
  /// Whether this push would be one too many in a row for its device (`Documentation/provider-api.md#reasons`
  /// `TooManyRequests`, `Documentation/provider-api.md#open-questions`). Called only for requests that pass everything
  /// else.
  func isFlooded(_ token: DeviceToken) -> Bool
}
