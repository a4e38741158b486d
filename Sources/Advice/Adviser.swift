import Basics
import PushModel

/// Facts about providers in, findings out. No socket, no clock; bounded however much is seen.
public struct Adviser: ~Copyable {
  /// Pushes that were seen, as a count.
  public private(set) var pushes: UInt64 = 0

  public init() {}

  /// A provider has connected.
  public mutating func opened(_ connection: SeenConnection, at moment: Moment) {}

  /// Whose an open connection is, once it has shown that.
  public mutating func identified(_ connection: UInt32, as credential: String) {}

  /// Something has happened on a connection that is open.
  public mutating func saw(_ event: ConnectionEvent, on connection: UInt32, at moment: Moment) {}

  /// Nothing more comes from there.
  public mutating func ended(_ connection: UInt32, _ end: SeenEnd, at moment: Moment) {}

  /// A push has its verdict.
  public mutating func saw(_ push: borrowing SeenPush, at moment: Moment) { pushes += 1 }

  /// Whether a push matters that is accepted and has nothing to remark: only while something lost is looked for.
  public var looksAtAll: Bool { false }

  /// Pushes that were accepted, had nothing to remark and were not looked at.
  public mutating func passed(_ count: UInt64) { pushes += count }

  /// The feedback service was read with a certificate, on its own connection.
  public mutating func feedbackRead(credential: String, peer: String, at moment: Moment) {}

  /// Device tokens that a provider with this credential may have from the feedback service, as a count, and how many were replaced while
  /// a device was offline: told about once a second.
  public mutating func timePassed(_ moment: Moment) {}

  /// The providers have ended: what has not been sent again by now never will be.
  public mutating func nothingMoreComes(_ moment: Moment) {}

  /// Forgets all findings and counts; connections stay known.
  public mutating func clear() {}

  /// The worst first.
  public func findings() -> [Finding] { [] }
}
