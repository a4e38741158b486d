import PushModel

/// How long to wait before the next try: doubling, with half of it random so that many do not come back in step.
struct RetryBackoff {
  /// The first wait at most, in nanoseconds. Apple asks for 15 minutes after a 500 or 503
  /// (`Documentation/provider-api.md#reasons`); a program that waits for its gateway would take that for a dead one, so
  /// the first tries come soon and then ever more rarely.
  static let first: Int64 = 500_000_000
  /// The longest wait, in nanoseconds.
  static let longest: Int64 = 60_000_000_000

  private var random: SeededChoices

  init(seed: UInt64) { random = SeededChoices(seed: seed) }

  /// The wait after so many failures in a row, from 1, in nanoseconds.
  mutating func wait(after failures: Int) -> Int64 {
    let doublings = Int64(max(0, min(failures - 1, 16)))
    let full = min(Self.first << doublings, Self.longest)
    return Int64.random(in: full / 2...full, using: &random)
  }
}
