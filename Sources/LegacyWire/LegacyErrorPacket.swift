import PushModel

/// The six bytes that tell a provider which notification failed (`Documentation/binary-protocol.md#error-packet`).
public struct LegacyErrorPacket: Equatable, Sendable {
  static let command: UInt8 = 8
  /// Its length, in bytes.
  public static let byteCount = 6

  public var status: UInt8
  /// The provider's own four bytes as a big-endian number.
  public var identifier: UInt32

  public init(status: UInt8, identifier: UInt32) { (self.status, self.identifier) = (status, identifier) }

  /// As on the wire.
  public var bytes: [UInt8] {
    [Self.command, status] + BigEndian.bytes(identifier)
  }

  /// Reads exactly six bytes that begin with 8; nil for anything else.
  public init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount, bytes[0] == Self.command else { return nil }
    self.init(status: bytes[1], identifier: bytes[2...].reduce(0) { $0 << 8 | UInt32($1) })
  }
}
