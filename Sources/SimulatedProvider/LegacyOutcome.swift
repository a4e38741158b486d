import LegacyWire
import PushModel

/// What a legacy provider learns of what it sent: nothing, an error packet, or a connection that ended
/// (`Documentation/binary-protocol.md#error-packet`).
public enum LegacyOutcome: Equatable, Sendable {
  /// Nothing came within the time that was waited, which is how success looks.
  case silence
  case error(LegacyErrorPacket)
  /// The service ended the connection without a packet.
  case closed

  /// Reads what came before the connection ended (or the wait was over).
  public init(received bytes: [UInt8], isClosed: Bool) {
    if let packet = LegacyErrorPacket(bytes: Array(bytes.prefix(LegacyErrorPacket.byteCount))) {
      self = .error(packet)
    } else {
      self = isClosed ? .closed : .silence
    }
  }

  public var isAccepted: Bool { self == .silence }

  /// One JSON object.
  public func json(command: LegacyCommand) -> JSONValue {
    let head: [(String, JSONValue)] = [
      ("interface", "gateway"), ("command", .integer(Int64(command.rawValue))),
      ("accepted", .bool(isAccepted)),
    ]
    switch self {
    case .silence: return .object(head)
    case .closed:
      return .object(head + [("explanation", "the connection was closed without an error packet")])
    case .error(let packet):
      return .object(
        head + [
          ("status", .integer(Int64(packet.status))), ("identifier", .integer(Int64(packet.identifier))),
          ("explanation", .optional(Self.explanation(packet.status))),
        ])
    }
  }

  /// nil for a status that nobody has documented.
  private static func explanation(_ status: UInt8) -> String? {
    let rejection = Rejection(legacyStatus: status)
    return rejection.legacyStatus == status ? rejection.sentence : nil
  }
}
