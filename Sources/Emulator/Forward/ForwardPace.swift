import PushModel

/// When the other service is asked again: nothing goes to it while it is busy, and what it did not take rests for a while.
/// Pure: moments are nanoseconds of a clock that never jumps.
package struct ForwardPace {
  private var backoff: Backoff
  /// Nothing is sent before this moment.
  private var pausedUntil: Int64 = 0
  /// Pauses in a row.
  private var pauses = 0

  package init(seed: UInt64) { backoff = .forwarding(seed: seed) }

  package func isPaused(_ now: Int64) -> Bool { now < pausedUntil }

  /// Holds everything back for a while, and answers for how long. Answers to what was sent together count as one: nil if
  /// there is a pause already.
  package mutating func pause(now: Int64) -> Int64? {
    guard !isPaused(now) else { return nil }
    pauses += 1
    let wait = backoff.wait(after: pauses)
    pausedUntil = now + wait
    return wait
  }

  /// The next pause is as short as the first.
  package mutating func noteSuccess() { pauses = 0 }

  /// When to try one again that has failed so often, from 1.
  package mutating func retry(after failures: Int, now: Int64) -> Int64 {
    max(pausedUntil, now + backoff.wait(after: failures))
  }

  /// When to look at the queue again; nil if only an answer can change anything.
  package func nextLook(at queue: ForwardQueue, now: Int64) -> Int64? {
    if isPaused(now), queue.hasReady(now: now) { return pausedUntil }
    return queue.nextMoment.map { max($0, pausedUntil) }
  }
}
