import Basics
import PushModel

/// Facts about providers in, findings out. No socket, no clock; bounded however much is seen.
public struct Adviser: ~Copyable {
  /// Pushes that were seen, as a count.
  public private(set) var pushes: UInt64 = 0

  /// Provider tokens are called old from this age, in seconds: Apple refuses them when they are an hour old.
  public static let oldToken: Int64 = 55 * 60
  /// Most frames before an error packet that are remembered, as a count.
  public static let acceptedLimit = 1024

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

  /// Whether an accepted push has something to remark, from its fields alone: then it has to be seen. Every rejected push has to be, and
  /// every push with a fault.
  public static func isRemarkable(
    interface: Interface, command: UInt8, identifier: UInt32, pushType: PushType?, priority: Priority,
    expiration: UInt32?, payloadSize: Int
  ) -> Bool { false }

  /// Pushes that were accepted, had nothing to remark and were not looked at.
  public mutating func passed(_ count: UInt64) { pushes += count }

  /// The feedback service was read with a certificate, on its own connection.
  public mutating func feedbackRead(credential: String, peer: String, at moment: Moment) {}

  /// A push had a payload of which `explain` has something to say.
  public mutating func sawPayloadProblem(
    _ problem: PayloadProblem, push: UInt64, on connection: UInt32, at moment: Moment
  ) {}

  /// Told about once a second, and before findings are asked for.
  public mutating func timePassed(_ moment: Moment) {}

  /// The providers have ended: what has not been sent again by now never will be.
  public mutating func nothingMoreComes(_ moment: Moment) {}

  /// Findings that are new, or worse, since this was asked last: for the event stream.
  public mutating func takeNews() -> [Finding] { [] }

  /// Forgets all findings and counts; connections stay known.
  public mutating func clear() {}

  /// The worst first.
  public func findings() -> [Finding] { [] }
}
