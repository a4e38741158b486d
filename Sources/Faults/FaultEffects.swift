import PushModel

/// What goes wrong, one or several at once (`Documentation/faults.md#rules`). They reach the wire: whoever owns the
/// connection carries them out.
public struct FaultEffects: Equatable, Sendable {
  /// Holds the push up: it is taken, and answered, when the delay is over.
  public struct Delay: Equatable, Sendable {
    public var milliseconds: Int64
    /// At most so much more, drawn from the seed.
    public var jitterMilliseconds: Int64

    public init(milliseconds: Int64, jitterMilliseconds: Int64 = 0) {
      (self.milliseconds, self.jitterMilliseconds) = (milliseconds, jitterMilliseconds)
    }
  }

  /// Lets the answer out in small pieces.
  public struct Dribble: Equatable, Sendable {
    public var bytes: Int
    public var everyMilliseconds: Int64

    public init(bytes: Int, everyMilliseconds: Int64) {
      (self.bytes, self.everyMilliseconds) = (bytes, everyMilliseconds)
    }
  }

  /// An error packet of the binary protocol.
  public struct LegacyError: Equatable, Sendable {
    public var status: UInt8
    /// Another identifier than that of the notification; nil for its own.
    public var identifier: UInt32?

    public init(status: UInt8, identifier: UInt32? = nil) {
      (self.status, self.identifier) = (status, identifier)
    }
  }

  /// A GOAWAY frame, with a reason in its debug data.
  public struct GoAway: Equatable, Sendable {
    public var reason: String?

    public init(reason: String? = nil) { self.reason = reason }
  }

  /// What is done to the device's side.
  public enum Courier: String, Sendable, CaseIterable {
    /// The device's connection ends.
    case drop
    /// Nothing more is sent to the device, and nothing it says is heard.
    case stall
  }

  /// Rejects the notification with this reason, on either interface.
  public var reason: Rejection?
  public var delay: Delay?
  public var dribble: Dribble?
  public var goAway: GoAway?
  /// RST_STREAM with this code (RFC 9113 7).
  public var resetStream: UInt32?
  /// TCP RST.
  public var resetsConnection = false
  /// Our side of the connection ends.
  public var halfCloses = false
  /// The connection stays open, and nothing more is read or written.
  public var stalls = false
  /// So many bytes that mean nothing, instead of an answer.
  public var garbage: Int?
  /// A TLS alert with this description (RFC 8446 6.2), then the end.
  public var tlsAlert: UInt8?
  public var legacy: LegacyError?
  /// A new connection is closed at once.
  public var refuses = false
  public var courier: Courier?

  public init() {}

  /// Where a rule with these effects is looked at; nil if they don't belong to one moment, or are none.
  public var stage: FaultStage? {
    let ofConnection = refuses || tlsAlert != nil
    let ofDelivery = courier != nil
    let ofPush =
      reason != nil || delay != nil || dribble != nil || goAway != nil || resetStream != nil
      || resetsConnection || halfCloses || stalls || garbage != nil || legacy != nil
    switch (ofConnection, ofPush, ofDelivery) {
    case (true, false, false): return .connection
    case (false, true, false): return .push
    case (false, false, true): return .delivery
    default: return nil
    }
  }
}

/// The moments at which something can go wrong.
public enum FaultStage: String, Sendable, CaseIterable {
  /// A client has connected.
  case connection
  /// A notification has come in, or a channel management request.
  case push
  /// A message is about to be handed to a device.
  case delivery
}
