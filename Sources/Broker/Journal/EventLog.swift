import Basics
import PushModel

/// The newest events in a ring, numbered from 1, so that a watcher can come back and go on where it was.
///
/// Nothing is written until somebody watches: the push path pays one test for it.
public final class EventLog {
  /// How many events are kept, as a count: some seconds of heavy traffic.
  public static let capacity = 16_384

  /// Set by the first watcher, for good: a watcher that lost its connection wants what it missed.
  @exclusivity(unchecked) public private(set) var isOn = false
  /// The number that the next event gets.
  public private(set) var nextNumber: UInt64 = 1
  private var ring: UnsafeMutablePointer<BrokerEvent>?

  init() {}

  deinit { ring?.deallocate() }

  /// The oldest number that is still here.
  public var firstNumber: UInt64 {
    nextNumber > UInt64(Self.capacity) ? nextNumber - UInt64(Self.capacity) : 1
  }

  /// Begins to write.
  public func turnOn() {
    guard ring == nil else { return }
    ring = .allocate(capacity: Self.capacity)
    isOn = true
  }

  /// The event of a number, if it is still here.
  public subscript(number: UInt64) -> BrokerEvent? {
    guard number >= firstNumber, number < nextNumber, let ring else { return nil }
    return ring[Int(number % UInt64(Self.capacity))]
  }

  /// Adds an event from outside the broker; answers its number, 0 while nobody watches.
  public func append(subject: UInt64, at now: Timestamp) -> UInt64 {
    append(.init(kind: .other, subject: subject, at: now))
    return isOn ? nextNumber - 1 : 0
  }

  func append(_ event: BrokerEvent) {
    guard let ring else { return }
    (ring + Int(nextNumber % UInt64(Self.capacity))).initialize(to: event)
    nextNumber += 1
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
