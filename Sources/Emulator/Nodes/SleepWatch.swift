import PushModel

/// Finds that this node has slept, as it was stopped or had no processor. No clock: it is told the time.
struct SleepWatch {
  /// Who has not looked for so long, and had nothing to do, has slept, in nanoseconds. One that has too much to do must not have the
  /// others say everything again each turn.
  private static let limit: Int64 = 250_000_000
  /// Between looks that count, in nanoseconds: the processor's time is a system call.
  private static let pause: Int64 = 1_000_000
  /// Between sleeps that count, in nanoseconds: a node that has a fifth of a processor is stopped again and again, and could do nothing
  /// that the others ask. Less than after which others may take its zones (`ZoneLease.Terms.timeToLive`).
  private static let rest: Int64 = 2_000_000_000

  private var lookedAt: Instant
  /// What the thread had of the processor then, in nanoseconds.
  private var busyThen: Int64
  /// When this node was awake again.
  private(set) var awakeSince = Instant.distantPast

  init(now: Instant, busy: Int64) { (lookedAt, busyThen) = (now, busy) }

  /// `busy` answers what the thread has had of the processor, in nanoseconds. Nil if it is too early for a look, else whether it has
  /// slept since the last.
  mutating func look(_ now: Instant, busy: () -> Int64) -> Bool? {
    let whole = now.nanoseconds(since: lookedAt)
    guard whole >= Self.pause else { return nil }
    let busy = busy()
    let hasSlept = whole - (busy - busyThen) > Self.limit
    (lookedAt, busyThen) = (now, busy)
    guard hasSlept, now.nanoseconds(since: awakeSince) >= Self.rest else { return false }
    awakeSince = now
    return true
  }
}
