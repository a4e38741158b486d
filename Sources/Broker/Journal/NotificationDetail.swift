/// What only some notifications have.
public final class NotificationDetail {
  /// Which rule refused it, what was expected and what came. Never a secret.
  public var explanation: String?
  /// Where it was forwarded to; nil for what is decided here.
  public var upstream: String?

  public init(explanation: String? = nil, upstream: String? = nil) {
    (self.explanation, self.upstream) = (explanation, upstream)
  }
}
