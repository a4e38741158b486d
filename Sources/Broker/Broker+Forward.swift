import PushModel

/// Notifications that another service decides about: the journal follows them, the token map is not asked.
extension Broker {
  /// What became of a forwarded notification.
  public enum ForwardOutcome {
    /// The other service took it.
    case delivered
    case rejected(Rejection)
    /// Taken, as far as the provider is concerned, and given up: its time ran out.
    case expired
    /// Taken, as far as the provider is concerned, and of no use: the token is gone, or an error before it counts.
    case discarded
  }

  /// Remembers a notification that waits to be forwarded; answers its id.
  public func beginForward(_ submission: Submission, now: Timestamp) -> UInt64 {
    let id = record(submission.plain, submission.detail, registration: -1, rejection: nil, now: now)
    journal.pointer(id)?.pointee.state = .stored
    note(.delivery, id, .stored, now)
    return id
  }

  /// It is on its way to the other service.
  public func noteForwarded(_ id: UInt64, now: Timestamp) {
    counters.sent += 1
    note(.delivery, id, .sent, now)
    guard let record = journal.pointer(id) else { return }
    record.pointee.state = .sent
    record.pointee.sentAt = now
    meter.noteSent(record, .forwarded)
  }

  /// The end of it; `explanation` says who answered what.
  public func endForward(_ id: UInt64, _ outcome: ForwardOutcome, explanation: String, now: Timestamp) {
    let (state, rejection) = count(outcome)
    note(.delivery, id, state, now)
    // An old one may have left the journal; attaching to it would never be undone.
    guard let record = journal.pointer(id) else { return }
    record.pointee.state = state
    record.pointee.rejection = rejection
    record.pointee.endedAt = now
    if case .delivered = outcome { meter.noteAcknowledged(record, .forwarded) }
    journal.detail(id)?.explanation = explanation
  }

  private func count(_ outcome: ForwardOutcome) -> (NotificationState, Rejection?) {
    if case .rejected(let rejection) = outcome {
      meter.count(rejection, isAnswered: true, .gateway)
    } else {
      meter.countAccepted(.gateway)
    }
    switch outcome {
    case .delivered:
      counters.accepted += 1
      counters.delivered += 1
      return (.delivered, nil)
    case .rejected(let rejection):
      counters.rejected += 1
      return (.rejected, rejection)
    case .expired:
      counters.accepted += 1
      counters.expired += 1
      return (.expired, nil)
    case .discarded:
      counters.accepted += 1
      counters.discarded += 1
      return (.discarded, nil)
    }
  }
}
