import LegacyWire
import PushModel

/// The same push many times on one connection of the binary protocol, with identifiers that count up.
public struct LegacySeries: Sendable {
  public var count: Int
  public var firstIdentifier: UInt32
  /// How long it took to send them all; nil if the connection ended before.
  public var nanoseconds: Int64?

  public init(count: Int, firstIdentifier: UInt32, nanoseconds: Int64?) {
    (self.count, self.firstIdentifier, self.nanoseconds) = (count, firstIdentifier, nanoseconds)
  }

  /// How many were accepted, as far as the provider can know (`Documentation/binary-protocol.md#error-packet`): those
  /// before the one that the packet names, with it for status 10. nil if nothing tells.
  public func accepted(_ outcome: LegacyOutcome) -> Int? {
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
  public func json(_ outcome: LegacyOutcome, command: LegacyCommand) -> JSONValue {
    guard case .object(let members) = outcome.json(command: command) else { return .null }
    let accepted = accepted(outcome)
    var counts: [(String, JSONValue)] = [
      ("count", .integer(Int64(count))), ("acceptedCount", .optional(accepted.map { Int64($0) })),
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
public enum PushRate {
  /// What the clock was stopped for, from the moment that the connection was open.
  public enum Measured: String, Sendable {
    /// Every push had its answer.
    case answers = "until the last answer"
    /// The system had taken all bytes. Whether the service has is not known: silence is its only yes.
    case sending = "until the last byte was handed to the system"
  }

  /// Members `milliseconds`, `perSecond` and `measured`; none without a time.
  public static func members(_ count: Int, nanoseconds: Int64?, _ measured: Measured) -> [(String, JSONValue)]
  {
    guard let nanoseconds else { return [] }
    let perSecond = Double(count) * 1_000_000_000 / Double(max(1, nanoseconds))
    return [
      ("milliseconds", .integer(nanoseconds / 1_000_000)),
      ("perSecond", .integer(Int64(perSecond.rounded()))),
      ("measured", .string(measured.rawValue)),
    ]
  }
}
