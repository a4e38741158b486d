/// Names a broadcast channel: base64 that the server makes up. Its size must not be assumed
/// (`Documentation/provider-api.md#channel-management`).
public struct ChannelID: Hashable, Sendable, CustomStringConvertible {
  /// As in `apns-channel-id`.
  public let text: String

  /// Longest id taken, in characters.
  public static let maximumByteCount = 128

  /// Takes standard base64 with its padding; nil for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    self.init(bytes.span)
  }

  init?(_ bytes: Span<UInt8>) {
    guard !bytes.isEmpty, bytes.count <= Self.maximumByteCount, bytes.count.isMultiple(of: 4) else {
      return nil
    }
    var digits = bytes
    while digits.count > bytes.count - 2, digits.last == UInt8(ascii: "=") {
      digits = digits.extracting(droppingLast: 1)
    }
    for place in 0..<digits.count where !Self.isDigit(digits[place]) { return nil }
    text = bytes.text
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
