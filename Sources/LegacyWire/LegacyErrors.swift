import Basics

/// A frame that can't be parsed: status 128, with the identifier if it was read before
/// (`Documentation/binary-protocol.md#frames`, `#open-questions`).
public struct LegacyParseFailure: Error, Equatable, Sendable {
  /// What was wrong, and where.
  public enum Code: Equatable, Sendable {
    case unknownCommand(UInt8)
    case frameLength(UInt32)
    case itemOverruns(id: UInt8, length: Int, left: Int)
    case truncatedItem(left: Int)
    case unknownItem(UInt8)
    case duplicateItem(UInt8)
    case itemLength(id: UInt8, length: Int)
    case priority(UInt8)
  }

  public var code: Code
  /// Echoed in the error packet; 0 where none was read.
  public var identifier: UInt32
  /// The frame's command: after command 0 the connection just closes (`Documentation/binary-protocol.md#error-packet`).
  public var command: UInt8

  /// Expected and got, for the log.
  public var sentence: String {
    switch code {
    case .unknownCommand(let command): "expected command 0, 1 or 2, got \(command)"
    case .frameLength(let length): "expected a frame of 1 to \(LegacyLimits.frameBody) bytes, got \(length)"
    case .itemOverruns(let id, let length, let left):
      "item \(id) says \(length) bytes, but the frame has \(left) left"
    case .truncatedItem(let left): "expected an item of at least 3 bytes, the frame has \(left) left"
    case .unknownItem(let id): "expected item 1 to 5, got \(id)"
    case .duplicateItem(let id): "item \(id) appears twice"
    case .itemLength(let id, let length): "item \(id) has a wrong length of \(length) bytes"
    case .priority(let value): "expected priority 10 or 5, got \(value)"
    }
  }
}

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
