/// How long to wait before connecting again: doubling, with half of it random so that many devices do not come back in step.
struct Backoff {
  /// The first wait at most, in nanoseconds.
  static let firstNanoseconds: Int64 = 1_000_000_000
  /// The longest wait, in nanoseconds. A person who has restarted the emulator should not wait longer than this.
  static let longestNanoseconds: Int64 = 60 * 1_000_000_000
  /// A connection that has lasted so long was a success, in nanoseconds; what ends sooner counts as another failure.
  static let stableNanoseconds: Int64 = 10 * 1_000_000_000

  private var failures = 0

  /// The next wait, in nanoseconds.
  mutating func next(using random: inout SplitMix64) -> Int64 {
    let full = min(Self.firstNanoseconds << Int64(min(failures, 10)), Self.longestNanoseconds)
    failures += 1
    return Int64.random(in: full / 2...full, using: &random)
  }

  mutating func reset() { failures = 0 }
}
