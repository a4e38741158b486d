/// How long to wait before the next try: doubling, with half of it random so that many do not come back in step.
struct RetryBackoff {
  /// The first wait at most, in nanoseconds. Apple asks for 15 minutes after a 500 or 503
  /// (`spec/provider-protocol.md` D.5); a program that waits for its gateway would take that for a dead one, so the first tries
  /// come soon and then ever more rarely.
  static let first: Int64 = 500_000_000
  /// The longest wait, in nanoseconds.
  static let longest: Int64 = 60_000_000_000

  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(state: seed) }

  /// The wait after so many failures in a row, from 1, in nanoseconds.
  mutating func wait(after failures: Int) -> Int64 {
    let doublings = Int64(max(0, min(failures - 1, 16)))
    let full = min(Self.first << doublings, Self.longest)
    return Int64.random(in: full / 2...full, using: &random)
  }
}

/// SplitMix64 (Steele, Lea, Flood 2014): the same seed, the same run. Not for secrets.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ word >> 30) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ word >> 27) &* 0x94d0_49bb_1331_11eb
    return word ^ word >> 31
  }
}
