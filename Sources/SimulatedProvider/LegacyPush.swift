import LegacyWire
import PushModel

/// One push as a legacy provider sends it.
public struct LegacyPush: Sendable {
  public var command: LegacyCommand
  public var token: [UInt8]
  public var payload: [UInt8]
  public var identifier: UInt32
  /// UNIX seconds; nil leaves it out (command 2) or means "never stored" for command 1, which must say something.
  public var expiration: UInt32?
  /// nil leaves it out; only command 2 has it.
  public var priority: UInt8?

  public init(command: LegacyCommand, token: [UInt8], payload: [UInt8], identifier: UInt32) {
    (self.command, self.token, self.payload, self.identifier) = (command, token, payload, identifier)
  }

  /// As on the wire (`Documentation/binary-protocol.md#frames`).
  public var frame: [UInt8] {
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
