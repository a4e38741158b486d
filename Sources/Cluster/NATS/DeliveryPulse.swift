import Basics

/// When something was heard last of a delivery, and whether all that was in the log has been told. Pure.
package struct DeliveryPulse {
  /// NATS says every second that it has nothing new. Without a word for so long, silence means nothing. Nanoseconds.
  private static let lapse: Int64 = 1_800_000_000

  private var heardAt: Instant
  /// Whether a message has come.
  private var hasMessage = false
  private var hasCaughtUp = false

  /// A delivery that was asked for at a time.
  package init(begun now: Instant) { heardAt = now }

  /// For how long nothing was heard, in nanoseconds.
  package func silence(_ now: Instant) -> Int64 { now.nanoseconds(since: heardAt) }

  /// Whether NATS has said lately that there is no more.
  package func isLive(_ now: Instant) -> Bool { hasCaughtUp && silence(now) < Self.lapse }

  /// NATS has answered who asked for the delivery, and said how many records there were then; answers whether there is no more. A
  /// message may have come before the answer, and long before: then it is the messages that say so, and when they came counts.
  package mutating func answered(pending: UInt64, _ now: Instant) -> Bool {
    guard !hasMessage else { return false }
    heardAt = now
    return pending == 0
  }

  /// A message has come; answers whether it comes after a gap. What comes next says again whether there is more.
  package mutating func heard(_ now: Instant) -> Bool {
    let isGap = silence(now) >= Self.lapse
    if isGap { hasCaughtUp = false }
    (heardAt, hasMessage) = (now, true)
    return isGap
  }

  /// A message has said that there is no more; answers whether that is news.
  package mutating func catchUp() -> Bool {
    defer { hasCaughtUp = true }
    return !hasCaughtUp
  }
}
