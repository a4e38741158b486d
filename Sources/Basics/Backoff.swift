/// How long to wait before the next try: doubling, with half of it random so that many do not come back in step.
public struct Backoff: Sendable {
  /// The first wait at most, in nanoseconds.
  private let first: Int64
  /// The longest wait, in nanoseconds.
  private let longest: Int64
  private var random: SeededChoices

  /// Both in nanoseconds: the first wait at most, and the longest.
  public init(first: Int64, longest: Int64, seed: UInt64) {
    (self.first, self.longest, random) = (first, longest, SeededChoices(seed: seed))
  }

  /// The wait after so many failures in a row, from 1, in nanoseconds.
  public mutating func wait(after failures: Int) -> Int64 {
    // More doublings than this pass every longest wait, and must not pass the end of the number.
    let doublings = Int64(max(0, min(failures - 1, 16)))
    let full = min(first << doublings, longest)
    return Int64.random(in: full / 2...full, using: &random)
  }
}
