import PushModel

/// The fault that a notification was struck by, for those who look at what became of it.
public struct StruckFault: Sendable {
  /// The rule's name, or the magic word.
  public var name: String
  /// As rules write it.
  public var effect: JSONValue
  /// Whether the provider was told a reason. Else there was none: the connection or the stream went wrong, and the
  /// record's rejection says no more than that the notification was not taken.
  public var isAnswered: Bool

  public init(name: String, effect: JSONValue, isAnswered: Bool) {
    (self.name, self.effect, self.isAnswered) = (name, effect, isAnswered)
  }
}
