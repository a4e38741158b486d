import Basics

/// Behind an answer a device has a moment to itself: some client dies of a frame that comes right behind one
/// (`Documentation/device-protocol.md#quiet-after-an-answer`). A flat time rather than "until the next frame": some client acknowledges
/// from one task and pings from another, so that a frame does not show it has read our answer.
///
///     over ─ an answer is queued ─→ answered ─ it has left ─→ running ─ 20 ms ─→ over
public struct QuietPause {
  public enum State {
    case over
    /// The answer may be held back (a store's commit comes first), and the pause counts from when it leaves.
    case answered
    case running(until: Instant)
  }

  public private(set) var state = State.over

  public init() {}

  /// Whether what nobody asked for may be sent at once, as far as is known without a look at the clock.
  @inlinable public var isOver: Bool { if case .over = state { true } else { false } }
  /// Whether the answer has yet to leave.
  public var awaitsAnswer: Bool { if case .answered = state { true } else { false } }
  /// When it will be over; nil if it is, or has not begun.
  public var end: Instant? { if case .running(let end) = state { end } else { nil } }

  /// An answer goes out.
  public mutating func answered() { state = .answered }

  /// The answer has been handed to the system.
  public mutating func answerLeft(at now: Instant) {
    state = .running(until: now.adding(nanoseconds: CourierLimits.quietNanoseconds))
  }

  /// Whether it is over by now.
  public mutating func ends(by now: Instant) -> Bool {
    if let end, now >= end { state = .over }
    return isOver
  }
}
