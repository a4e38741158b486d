/// Percentiles of any number of durations in 16 KiB: they are counted in buckets of which none is wider than a 32nd of what
/// falls into it. The largest is kept as it is.
package struct LatencySketch: Sendable {
  /// Buckets within a doubling are two to this power.
  private static let detail = 5
  private var counts = [UInt64](repeating: 0, count: (64 - detail) << detail)
  /// Durations so far, as a count.
  package private(set) var count: UInt64 = 0
  /// The longest, in nanoseconds.
  package private(set) var longest: Int64 = 0

  package init() {}

  /// Counts a duration, in nanoseconds; a negative one as none.
  package mutating func add(_ nanoseconds: Int64) {
    let duration = max(0, nanoseconds)
    counts[Self.bucket(of: duration)] += 1
    count += 1
    longest = max(longest, duration)
  }

  /// What `part` of all (0 to 1) do not exceed, in nanoseconds and rounded up by 3 % at most; nil if there are none.
  package func percentile(_ part: Double) -> Int64? {
    guard count > 0 else { return nil }
    let rank = max(1, UInt64((Double(count) * part).rounded(.up)))
    var seen: UInt64 = 0
    for (bucket, number) in counts.enumerated() {
      seen += number
      if seen >= rank { return min(longest, Self.largest(in: bucket)) }
    }
    return longest
  }

  private static func bucket(of duration: Int64) -> Int {
    let power = Int64.bitWidth - 1 - duration.leadingZeroBitCount
    guard power > detail else { return Int(duration) }
    let shift = power - detail
    return (shift << detail) + Int(duration >> Int64(shift))
  }

  private static func largest(in bucket: Int) -> Int64 {
    let shift = max(0, (bucket >> detail) - 1)
    let mantissa = Int64(bucket - (shift << detail))
    return (mantissa + 1) << Int64(shift) &- 1
  }
}
