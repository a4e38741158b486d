import PushModel

/// What only some notifications have: headers of the HTTP interfaces, and why one was rejected.
public final class NotificationDetail {
  /// The `apns-id` of the answer.
  public var apnsId: String?
  public var collapseId: String?
  /// Request headers in order; authorization is never among them.
  public var headers: [(name: String, value: String)]
  /// Which rule refused it, what was expected and what came.
  public var explanation: String?

  public init(
    apnsId: String? = nil, collapseId: String? = nil, headers: [(name: String, value: String)] = [],
    explanation: String? = nil
  ) {
    (self.apnsId, self.collapseId) = (apnsId, collapseId)
    (self.headers, self.explanation) = (headers, explanation)
  }
}
