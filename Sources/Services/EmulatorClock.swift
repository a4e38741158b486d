import Basics
import Broker
import Platform

/// The one clock that drives every expiry (`Sources/ARCHITECTURE.md#promises` 5). Follows the system's until it is
/// moved or frozen.
public final class EmulatorClock {
  /// How far it is from the system's clock, in nanoseconds.
  public private(set) var offset: Int64 = 0
  /// Set while time stands still.
  public private(set) var frozenAt: Timestamp?

  /// Who lives by it, and is made later.
  private var followers: [() -> Void] = []

  public init() {}

  /// The system's own time.
  public var system: Timestamp { SystemClock.wallTime }

  /// Has somebody hear each time it has been moved, stopped or started.
  public func tellChanges(to follower: @escaping () -> Void) { followers.append(follower) }

  private func tellChange() { for follower in followers { follower() } }

  /// The present moment.
  public func now() -> Timestamp {
    frozenAt ?? system.adding(nanoseconds: offset)
  }

  /// Jumps forward (or back, if negative) by nanoseconds.
  public func advance(nanoseconds: Int64) {
    if let frozen = frozenAt {
      frozenAt = frozen.adding(nanoseconds: nanoseconds)
    } else {
      let (sum, overflow) = offset.addingReportingOverflow(nanoseconds)
      offset = overflow ? (nanoseconds < 0 ? .min : .max) : sum
    }
    tellChange()
  }

  /// Makes it `moment` now; runs on from there unless frozen.
  public func set(_ moment: Timestamp) {
    move(to: moment)
    tellChange()
  }

  private func move(to moment: Timestamp) {
    if frozenAt != nil { frozenAt = moment }
    let (difference, overflow) = moment.nanoseconds.subtractingReportingOverflow(
      system.nanoseconds)
    // Wall-clock time is after 1970, so the moment can only be too early.
    offset = overflow ? .min : difference
  }

  /// Stops or goes on. Going on continues from where it stood.
  public func setFrozen(_ frozen: Bool) {
    if frozen {
      frozenAt = frozenAt ?? now()
    } else if let moment = frozenAt {
      frozenAt = nil
      move(to: moment)
    }
    tellChange()
  }

  /// Follows the system's clock again.
  public func reset() {
    (offset, frozenAt) = (0, nil)
    tellChange()
  }
}

extension SystemClock {
  /// Wall-clock time, which nobody can move.
  public static var wallTime: Timestamp { Timestamp(nanoseconds: wallNanoseconds()) }
}

extension Broker {
  /// Bytes have come: what is done with them is timed from now. Once for each read and not for each push, where there are
  /// many in one.
  @inline(__always)
  public func noteRead(at instant: Instant = SystemClock.now()) { meter.instant = instant.nanoseconds }
}
