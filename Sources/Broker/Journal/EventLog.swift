import Basics
import PushModel

/// The newest events in a ring, numbered from 1, so that a watcher can come back and go on where it was.
///
/// Nothing is written until somebody watches: the push path pays one test for it.
public final class EventLog {
  /// How many events are kept, as a count: some seconds of heavy traffic.
  public static let capacity = 16_384

  private var hasWatcher = false
  private var next: UInt64 = 1
  private var ring = PlainTable<TablePlace, BrokerEvent>(capacity: 0)

  init() {}

  /// Set by the first watcher, for good: a watcher that lost its connection wants what it missed.
  @inline(__always)
  public var isOn: Bool { hasWatcher }
  /// The number that the next event gets.
  public var nextNumber: UInt64 { next }

  /// The oldest number that is still here.
  public var firstNumber: UInt64 {
    next > UInt64(Self.capacity) ? next - UInt64(Self.capacity) : 1
  }

  /// Begins to write.
  public func turnOn() {
    guard !hasWatcher else { return }
    let none = BrokerEvent(kind: .other, subject: 0, at: .never)
    _ = exchange(&ring, with: PlainTable(repeating: none, count: Self.capacity))
    hasWatcher = true
  }

  /// The event of a number, if it is still here.
  public subscript(number: UInt64) -> BrokerEvent? {
    guard hasWatcher, number >= firstNumber, number < next else { return nil }
    return ring[place(number)]
  }

  @inline(__always)
  private func place(_ number: UInt64) -> TablePlace { TablePlace(Int(number % UInt64(Self.capacity))) }

  /// Adds an event from outside the broker; answers its number, 0 while nobody watches.
  public func append(subject: UInt64, at now: Timestamp) -> UInt64 {
    append(.init(kind: .other, subject: subject, at: now))
    return hasWatcher ? next - 1 : 0
  }

  func append(_ event: BrokerEvent) {
    guard hasWatcher else { return }
    ring[place(next)] = event
    next &+= 1
  }
}

/// One thing that has happened, for whoever watches.
public struct BrokerEvent: BitwiseCopyable {
  /// What it is about, which says what `subject` is.
  public enum Kind: UInt8, Sendable, BitwiseCopyable {
    /// A notification came in; `subject` is its id.
    case notification
    /// A notification's state changed; `subject` is its id.
    case delivery
    /// A device came, went, was erased or restored; `subject` is its index.
    case device
    /// A row of the token map was added or changed; `subject` is its index.
    case token
    /// A phone told what it has made of a notification; `subject` is its id.
    case phone
    /// Something outside the broker; `subject` is for whoever put it there.
    case other
  }

  /// What happened to the subject.
  public enum Change: UInt8, Sendable, BitwiseCopyable {
    case none
    case connected, disconnected, erased, restored
    case issued, removed, gone
  }

  public var kind: Kind
  public var change = Change.none
  /// The new state of a notification.
  public var state = NotificationState.rejected
  public var environment = Environment.sandbox
  public var subject: UInt64
  public var at: Timestamp
}
