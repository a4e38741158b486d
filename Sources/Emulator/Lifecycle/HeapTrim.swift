/// Says when it is worth the time to give memory back to the system: a flood is over, and nobody is waited for.
///
///     held by peers   ▁▂▅█████▅▁▁▁▁▁▁
///                            ↑    ↑ much less than at the highest, and a quiet second: now
///                            not yet: pushes come, and memory that is used again costs nothing
package struct HeapTrim {
  /// What must have been given up since, in bytes: less is soon used again.
  package static let worthwhile = 16 << 20
  /// A second with more pushes is not quiet, as a count.
  package static let quietPushes: UInt64 = 100

  /// Most that was held since the last time.
  private var highest = 0
  private var pushes: UInt64 = 0

  package init() {}

  /// Asked once a second, with what peers hold, and held at the highest since the last time, in bytes, and how many pushes there have
  /// been in all.
  package mutating func isDue(held: Int, atMost: Int, pushes: UInt64) -> Bool {
    defer { self.pushes = pushes }
    highest = max(highest, held, atMost)
    guard highest - held >= Self.worthwhile, pushes &- self.pushes <= Self.quietPushes else { return false }
    highest = held
    return true
  }
}
