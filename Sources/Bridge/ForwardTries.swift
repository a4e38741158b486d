import Basics
import PushModel

/// How often one notification was tried in vain, and whether it is tried again. Pure.
///
///     turned away unseen ─→ at once, from the second time on after a while
///     lost, too many for its device, the other service is busy ─→ after a while, until that was often enough
///
/// While the other service is down nobody's tries count: it may come back. Only where others pass is it the notification.
package struct ForwardTries {
  package enum Next: Equatable {
    /// It goes to its old place.
    case atOnce
    /// After a wait that grows with the failures.
    case later(failures: Int)
    /// It counts as failed.
    case never(Rejection, because: String)
  }

  /// Unknown outcomes after which a notification counts as failed, as a count: it may be what kills the connections.
  static let lossLimit = 5
  /// Tries after which a notification for a device that gets too many counts as failed, as a count (some ten seconds): those
  /// behind it on its connection can't wait for ever.
  static let throttledLimit = 5
  /// The same for one that alone is answered with a server error, while others pass (some three minutes).
  static let failureLimit = 10

  private var refusals = 0
  private var losses = 0
  /// How many had been accepted when the other service was first too busy for this one; nil before.
  private var acceptedBefore: Int?

  package init() {}

  /// The other service has not looked at it. Once is a connection that leaves or a limit that fell; more is a peer that wants to
  /// be left alone.
  package mutating func refused() -> Next {
    defer { refusals += 1 }
    return refusals == 0 ? .atOnce : .later(failures: refusals)
  }

  /// Nobody can say what became of it. It is sent again: a provider can't tell silence from success, so what is lost here is
  /// lost for good, while one that arrives twice has the same `apns-id`.
  package mutating func lost(because reason: String) -> Next {
    losses += 1
    guard losses < Self.lossLimit else {
      return .never(.internalServerError, because: "no answer \(losses) times: \(reason)")
    }
    return .later(failures: losses)
  }

  /// There are too many for its device; `attempts` is how often it was handed over.
  package func throttled(attempts: Int, answer: String) -> Next {
    next(attempts, Self.throttledLimit, .tooManyRequests, answer)
  }

  /// The other service is busy; `accepted` is how many others it has accepted so far.
  package mutating func unavailable(attempts: Int, accepted: Int, answer: String) -> Next {
    let before = acceptedBefore ?? accepted
    acceptedBefore = before
    return next(attempts, accepted > before ? Self.failureLimit : .max, .internalServerError, answer)
  }

  private func next(_ attempts: Int, _ limit: Int, _ rejection: Rejection, _ answer: String) -> Next {
    attempts < limit
      ? .later(failures: attempts) : .never(rejection, because: "\(answer), \(attempts) times")
  }
}

/// When the other service is asked again: nothing goes to it while it is busy, and what it did not take rests for a while.
/// Pure.
package struct ForwardPace {
  private var backoff: Backoff
  /// Nothing is sent before this moment.
  private var pausedUntil = Instant.distantPast
  /// Pauses in a row.
  private var pauses = 0

  package init(seed: UInt64) { backoff = .forwarding(seed: seed) }

  package func isPaused(_ now: Instant) -> Bool { now < pausedUntil }

  /// Holds everything back for a while, and answers for how long. Answers to what was sent together count as one: nil if
  /// there is a pause already.
  package mutating func pause(now: Instant) -> Int64? {
    guard !isPaused(now) else { return nil }
    pauses += 1
    let wait = backoff.wait(after: pauses)
    pausedUntil = now.adding(nanoseconds: wait)
    return wait
  }

  /// The next pause is as short as the first.
  package mutating func noteSuccess() { pauses = 0 }

  /// When to try one again that has failed so often, from 1.
  package mutating func retry(after failures: Int, now: Instant) -> Instant {
    max(pausedUntil, now.adding(nanoseconds: backoff.wait(after: failures)))
  }

  /// When to look at the queue again; nil if only an answer can change anything.
  package func nextLook(at queue: ForwardQueue, now: Instant) -> Instant? {
    if isPaused(now), queue.hasReady(now: now) { return pausedUntil }
    return queue.nextMoment.map { max($0, pausedUntil) }
  }
}
