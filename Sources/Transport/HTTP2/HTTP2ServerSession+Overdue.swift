/// Clients that begin and never end, or never take what they asked for.
extension HTTP2ServerSession {
  /// What took too long.
  public struct Overdue: Equatable {
    /// A header block is not whole, and until it is nothing else can come: the session is to end.
    public var isAmidHeaders = false
    /// Streams that were reset.
    public var streams = 0
  }

  /// Resets streams whose request or answer has not become whole in time. To be called about once a second, with monotonic
  /// nanoseconds: a request's time begins when this first sees it, so that streams pay nothing for it.
  public func endOverdue(_ now: Int64) -> Overdue {
    var overdue = Overdue()
    overdue.isAmidHeaders = isLateWithHeaders(now)
    for request in requests.live {
      if request.seenPhase != request.phase { (request.seenPhase, request.seenAt) = (request.phase, now) }
      guard let time = patience(request.phase), now - request.seenAt >= time else { continue }
      // Again only after as long: what is reset may not have left.
      request.seenAt = now
      submitReset(request.streamID, .enhanceYourCalm)
      overdue.streams += 1
    }
    return overdue
  }

  private func isLateWithHeaders(_ now: Int64) -> Bool {
    guard isAmidHeaders else { return false }
    if headersSeenAt == 0 { headersSeenAt = now }
    return now - headersSeenAt >= options.headerTime
  }

  private func patience(_ phase: HTTP2Request.Phase) -> Int64? {
    switch phase {
    case .receiving: options.requestTime
    case .answered, .refused: options.answerTime
    // It waits for us.
    case .delivered: nil
    }
  }
}
