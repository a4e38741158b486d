import PushModel

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
  public var change: Change
  /// The new state of a notification.
  public var state: NotificationState
  public var environment: Environment
  public var subject: UInt64
  public var at: Timestamp
}
