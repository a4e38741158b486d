import PushModel

/// A refused request: what to answer, and why.
public struct RejectedRequest: Sendable {
  public var rejection: Rejection
  /// Goes out as `apns-id` (or `apns-request-id`): the request's own, if it has a valid one.
  public var messageID: MessageID
  /// Since when the token is no good; only with 410.
  public var goneAt: Timestamp?
  public var explanation: Explanation

  public init(
    _ rejection: Rejection, messageID: MessageID, goneAt: Timestamp? = nil, explanation: Explanation
  ) {
    (self.rejection, self.messageID) = (rejection, messageID)
    (self.goneAt, self.explanation) = (goneAt, explanation)
  }

  /// The body of the answer.
  public var body: [UInt8] { ErrorBody.bytes(rejection, goneAt: goneAt) }
}
