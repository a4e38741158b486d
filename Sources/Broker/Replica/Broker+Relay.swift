import PushModel

/// Notifications that come by one process and are decided by another, which owns their tokens' part of the token map. The history is
/// where they came by.
extension Broker {
  /// The row of a token as it was presented; nil if it is nobody's.
  @inline(__always)
  public func row(of token: UnsafeRawBufferPointer) -> RegistrationID? { lookUp(token) }

  // MARK: Where it comes by

  /// Remembers a notification that its owner is asked about; answers its id.
  public func beginRelay(
    _ submission: PlainSubmission, _ detail: NotificationDetail?, _ row: RegistrationID?, now: Timestamp
  ) -> UInt64 {
    let id = history.received(submission, detail, registration: row, now: now)
    history.waits(id, now)
    return id
  }

  /// The owner's verdict; nil for accepted.
  public func endRelay(_ id: UInt64, _ rejection: Rejection?, _ interface: Interface, now: Timestamp) {
    guard let rejection else { return history.countAccepted(interface) }
    history.countRejected(rejection, isAnswered: true, interface)
    history.ended(id, .rejected, now)
    journal.pointer(id)?.pointee.rejection = rejection
  }

  /// What the owner says became of a notification that it has accepted.
  public func noteElsewhere(_ id: UInt64, _ state: NotificationState, at time: Timestamp) {
    guard journal.pointer(id) != nil else { return }
    switch state {
    case .stored: history.stored(id, time)
    case .sent: history.sent(id, journal[id]?.state == .stored ? .kept : .direct, time)
    default: history.ended(id, state, time)
    }
  }

  // MARK: Where it is decided

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

  /// Has steps of notifications told that are in the history of another process.
  public func tellElsewhere(_ tell: @escaping (UInt64, NotificationState, Timestamp) -> Void) {
    history.elsewhere = tell
  }
}
