/// What only some notifications have.
public final class NotificationDetail {
  /// Which rule refused it, what was expected and what came. Never a secret.
  public var explanation: String?

  public init(explanation: String? = nil) { self.explanation = explanation }
}
