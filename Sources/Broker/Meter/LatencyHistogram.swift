/// How long something took, counted in buckets of which each reaches twice as far as the one before: finding one is a
/// count of bits.
public final class LatencyHistogram {
  /// The first bucket holds what took up to two to this power nanoseconds, some 66 µs.
  private static let firstPower = 16
  /// Buckets with a bound, as a count; the last one of them reaches to 137 s.
  public static let boundCount = 22

  /// One for each bound, and one for what is beyond. Freed with this object.
  private let counts: UnsafeMutablePointer<UInt64>
  /// Of all that was observed, in nanoseconds.
  @exclusivity(unchecked) public private(set) var sum: UInt64 = 0

  package init() {
    counts = .allocate(capacity: Self.boundCount + 1)
    counts.initialize(repeating: 0, count: Self.boundCount + 1)
  }

  deinit { counts.deallocate() }

  /// The largest duration of a bucket, in nanoseconds.
  public static func bound(_ bucket: Int) -> Int64 { 1 << (firstPower + bucket) }

  /// How many durations fell into a bucket; that behind the last bound has no end.
  public func count(_ bucket: Int) -> UInt64 { counts[bucket] }

  /// Counts a duration, in nanoseconds.
  @inline(__always)
  package func observe(_ nanoseconds: Int64) {
    let duration = UInt64(max(1, nanoseconds))
    let power = UInt64.bitWidth - (duration - 1).leadingZeroBitCount
    counts[min(max(0, power - Self.firstPower), Self.boundCount)] &+= 1
    sum &+= duration
  }
}
