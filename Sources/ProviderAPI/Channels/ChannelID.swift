/// Names a broadcast channel: base64 that the server makes up. Its size must not be assumed
/// (`Documentation/provider-api.md#channel-management`).
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
  /// As in `apns-channel-id`.
  public let text: String

  /// Longest id taken, in characters.
  public static let maximumByteCount = 128

  /// Takes standard base64 with its padding; nil for anything else.
  public init?(_ text: String) {
    guard let id = Array(text.utf8).withUnsafeBytes({ ChannelID($0) }) else { return nil }
    self = id
  }

  init?(_ bytes: UnsafeRawBufferPointer) {
    guard !bytes.isEmpty, bytes.count <= Self.maximumByteCount, bytes.count.isMultiple(of: 4) else {
      return nil
    }
    let padding = bytes.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard bytes.dropLast(padding).allSatisfy(Self.isDigit) else { return nil }
    text = String(decoding: bytes, as: UTF8.self)
  }

  public var description: String { text }

  private static func isDigit(_ character: UInt8) -> Bool {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
