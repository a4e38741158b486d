import Basics
import LegacyWire
import PushModel

/// One push as a legacy provider sends it.
package struct LegacyPush: Sendable {
  package var command: LegacyCommand
  package var token: [UInt8]
  package var payload: [UInt8]
  package var identifier: UInt32
  /// UNIX seconds; nil leaves it out (command 2) or means "never stored" for command 1, which must say something.
  package var expiration: UInt32?
  /// nil leaves it out; only command 2 has it.
  package var priority: UInt8?

  package init(command: LegacyCommand, token: [UInt8], payload: [UInt8], identifier: UInt32) {
    (self.command, self.token, self.payload, self.identifier) = (command, token, payload, identifier)
  }

  /// As on the wire (`Documentation/binary-protocol.md#frames`).
  package var frame: [UInt8] {
    switch command {
    case .simple: LegacyEncoder.simple(token: token, payload: payload)
    case .enhanced:
      LegacyEncoder.enhanced(
        identifier: identifier, expiration: expiration ?? 0, token: token, payload: payload)
    case .frame:
      LegacyEncoder.frame(
        token: token, payload: payload, identifier: identifier, expiration: expiration, priority: priority)
    }
  }
}

/// What a legacy provider learns of what it sent: nothing, an error packet, or a connection that ended
/// (`Documentation/binary-protocol.md#error-packet`).
package enum LegacyOutcome: Equatable, Sendable {
  /// Nothing came within the time that was waited, which is how success looks.
  case silence
  case error(LegacyErrorPacket)
  /// The service ended the connection without a packet.
  case closed

  /// Reads what came before the connection ended (or the wait was over).
  package init(received bytes: [UInt8], isClosed: Bool) {
    if let packet = LegacyErrorPacket(bytes: Array(bytes.prefix(LegacyErrorPacket.byteCount))) {
      self = .error(packet)
    } else {
      self = isClosed ? .closed : .silence
    }
  }

  package var isAccepted: Bool { self == .silence }

  /// One JSON object.
  package func json(command: LegacyCommand) -> JSONValue {
    let head: [(String, JSONValue)] = [
      ("interface", "gateway"), ("command", command.rawValue.json),
      ("accepted", .bool(isAccepted)),
    ]
    switch self {
    case .silence: return .object(head)
    case .closed:
      return .object(head + [("explanation", "the connection was closed without an error packet")])
    case .error(let packet):
      return .object(
        head + [
          ("status", packet.status.json), ("identifier", packet.identifier.json),
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

/// The same push many times on one connection of the binary protocol, with identifiers that count up.
package struct LegacySeries: Sendable {
  package var count: Int
  package var firstIdentifier: UInt32
  /// How long it took to send them all; nil if the connection ended before.
  package var nanoseconds: Int64?

  package init(count: Int, firstIdentifier: UInt32, nanoseconds: Int64?) {
    (self.count, self.firstIdentifier, self.nanoseconds) = (count, firstIdentifier, nanoseconds)
  }

  /// How many were accepted, as far as the provider can know (`Documentation/binary-protocol.md#error-packet`): those
  /// before the one that the packet names, with it for status 10. nil if nothing tells.
  package func accepted(_ outcome: LegacyOutcome) -> Int? {
    switch outcome {
    case .silence: return count
    case .closed: return nil
    case .error(let packet):
      let before = Int(packet.identifier &- firstIdentifier) + (packet.status == Self.shutdown ? 1 : 0)
      // An identifier that nobody gave out: 0 for an empty token.
      return (0...count).contains(before) ? before : nil
    }
  }

  /// One JSON object: the outcome, how many were accepted, and how many have to be sent again.
  package func json(_ outcome: LegacyOutcome, command: LegacyCommand) -> JSONValue {
    guard case .object(let members) = outcome.json(command: command) else { return .null }
    let accepted = accepted(outcome)
    var counts: [(String, JSONValue)] = [
      ("count", count.json), ("acceptedCount", .optional(accepted.map { Int64($0) })),
    ]
    if case .error(let packet) = outcome, let accepted {
      let refused = packet.status == Self.shutdown ? 0 : 1
      counts.append(("resend", .integer(Int64(max(0, count - accepted - refused)))))
    }
    return .object(members + counts + PushRate.members(count, nanoseconds: nanoseconds, .sending))
  }

  private static let shutdown: UInt8 = 10
}

/// How fast a number of pushes went, and between which moments.
package enum PushRate {
  /// What the clock was stopped for, from the moment that the connection was open.
  package enum Measured: String, Sendable {
    /// Every push had its answer.
    case answers = "until the last answer"
    /// The system had taken all bytes. Whether the service has is not known: silence is its only yes.
    case sending = "until the last byte was handed to the system"
  }

  /// Members `milliseconds`, `perSecond` and `measured`; none without a time.
  package static func members(_ count: Int, nanoseconds: Int64?, _ measured: Measured) -> [(
    String, JSONValue
  )] {
    guard let nanoseconds else { return [] }
    let perSecond = Double(count) * 1_000_000_000 / Double(max(1, nanoseconds))
    return [
      ("milliseconds", .integer(nanoseconds / 1_000_000)),
      ("perSecond", .integer(Int64(perSecond.rounded()))),
      ("measured", .string(measured.rawValue)),
    ]
  }
}
