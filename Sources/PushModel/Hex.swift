/// Hexadecimal text, as tokens and identifiers appear in paths, tables and logs.
public enum Hex {
  /// Lower-case hexadecimal of `bytes`, two digits a byte.
  public static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(bytes.underestimatedCount * 2)
    for byte in bytes {
      digits.append(digit(byte >> 4))
      digits.append(digit(byte & 15))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The bytes that `text` spells in hexadecimal, either case; nil for an odd length or a foreign character.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    decode(digits: text.utf8)
  }

  /// The bytes that ASCII `digits` spell; nil for an odd count or a foreign character.
  public static func decode(digits: some Collection<UInt8>) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var high: UInt8?
    for character in digits {
      guard let value = value(character) else { return nil }
      if let first = high {
        bytes.append(first << 4 | value)
        high = nil
      } else {
        high = value
      }
    }
    return bytes
  }

  /// The value 0–15 of one ASCII digit, or nil.
  @inlinable
  public static func value(_ character: UInt8) -> UInt8? {
    switch character {
    case 0x30...0x39: character &- 0x30
    case 0x41...0x46: character &- 0x37
    case 0x61...0x66: character &- 0x57
    default: nil
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x57 + value }
}
