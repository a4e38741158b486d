/// A moment on a clock that never jumps and that nobody can set: nanoseconds since an arbitrary start.
///
/// For whatever is waited for: timeouts of peers, pauses, idle times, retries. What Apple dates is a `Timestamp`, on the
/// emulator's clock. They are two types so that a wait can't end an hour late because somebody has set a clock:
///
///     let deadline = SystemClock.now().adding(nanoseconds: 30_000_000_000)
@frozen
public struct Instant: Hashable, Comparable, Sendable {
  public var nanoseconds: Int64

  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Before every other.
  public static let distantPast = Instant(nanoseconds: .min)

  @inlinable
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// Moves by a number of nanoseconds, saturating.
  @inlinable
  public func adding(nanoseconds delta: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
    return Instant(nanoseconds: overflow ? (delta < 0 ? .min : .max) : sum)
  }

  /// Nanoseconds from an earlier moment until this one, negative from a later one; saturating.
  @inlinable
  public func nanoseconds(since earlier: Instant) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return overflow ? (earlier.nanoseconds < 0 ? .max : .min) : difference
  }
}
