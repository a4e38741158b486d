/// What only some notifications have.
public final class NotificationDetail {
  /// Which rule refused it, what was expected and what came. Never a secret.
  public var explanation: String?
  /// Where it was forwarded to; nil for what is decided here.
  public var upstream: String?
  /// What kept it from being taken, if that was done on purpose.
  public var fault: StruckFault?

  public init(explanation: String? = nil, upstream: String? = nil, fault: StruckFault? = nil) {
    (self.explanation, self.upstream, self.fault) = (explanation, upstream, fault)
  }
}
