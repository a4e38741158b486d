import PushModel

/// Notifications that come by one process and are decided by another, which owns their tokens' part of the token map. The history is
/// where they came by.
extension Broker {
  /// The row of a token as it was presented; nil if it is nobody's.
  @inline(__always)
  public func row(of token: UnsafeRawBufferPointer) -> RegistrationID? { lookUp(token) }

  /// Takes a notification that has another process's id, or says why not.
  public func submitRelayed(_ submission: PlainSubmission, id: UInt64, now: Timestamp) -> SubmissionResult {
    guard let row = lookUp(submission.token) ?? adopt(submission, now: now) else {
      return SubmissionResult(id: id, rejection: .badDeviceToken)
    }
    let registration = registry[row]
    if let refusal = refusal(ofRelayed: submission, row, registration, now) {
      return SubmissionResult(id: id, rejection: refusal.rejection, goneAt: refusal.goneAt)
    }
    return SubmissionResult(
      id: id, isCongested: route(submission, id: id, row: row, registration, now: now))
  }
}
