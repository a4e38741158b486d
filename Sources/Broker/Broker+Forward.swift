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
    let id = history.received(submission.plain, submission.detail, registration: nil, now: now)
    history.waits(id, now)
    return id
  }

  /// It is on its way to the other service.
  public func noteForwarded(_ id: UInt64, now: Timestamp) { history.sent(id, .forwarded, now) }

  /// The end of it; `explanation` says who answered what.
  public func endForward(_ id: UInt64, _ outcome: ForwardOutcome, explanation: String, now: Timestamp) {
    let (state, rejection) = outcome.entry
    if let rejection {
      history.countRejected(rejection, isAnswered: true, .gateway)
    } else {
      history.countAccepted(.gateway)
    }
    history.ended(id, state, by: .forwarded, now)
    // An old one may have left the journal; attaching to it would never be undone.
    guard let record = journal.pointer(id) else { return }
    record.pointee.rejection = rejection
    journal.detail(id)?.explanation = explanation
  }
}

extension Broker.ForwardOutcome {
  /// What the journal says of it.
  fileprivate var entry: (NotificationState, Rejection?) {
    switch self {
    case .delivered: (.delivered, nil)
    case .rejected(let rejection): (.rejected, rejection)
    case .expired: (.expired, nil)
    case .discarded: (.discarded, nil)
    }
  }
}
