/// Hexadecimal text, as tokens and identifiers appear in paths, tables and logs.
public enum Hex {
  /// Lower-case hexadecimal of `bytes`, two digits a byte.
  public static func encode(_ bytes: some Sequence<UInt8>) -> String { encode(Array(bytes).span) }

  public static func encode(_ bytes: Span<UInt8>) -> String {
    let digits = [UInt8](capacity: bytes.count * 2) { digits in
      for index in bytes.indices {
        digits.append(digit(bytes[index] >> 4))
        digits.append(digit(bytes[index] & 15))
      }
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The bytes that `text` spells in hexadecimal, either case; nil for an odd length or a foreign character.
  public static func decode(_ text: some StringProtocol) -> [UInt8]? {
    decode(digits: text.utf8)
  }

  /// The bytes that ASCII `digits` spell; nil for an odd count or a foreign character.
  public static func decode(digits: some Sequence<UInt8>) -> [UInt8]? { decode(digits: Array(digits).span) }

  public static func decode(digits: Span<UInt8>) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
      bytes.append(high << 4 | low)
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

/// Eight hexadecimal digits at a time, each in its byte of a word: ids and tokens are on the path of every push.
public enum HexWord {
  @inlinable static var ones: UInt64 { 0x0101_0101_0101_0101 }

  /// The ASCII digits of `value`, the first in the lowest byte. Where `upperCase` has bit n, digit n is written in upper
  /// case if it is a letter.
  @inlinable
  public static func encode(_ value: UInt32, upperCase: UInt8) -> UInt64 {
    var digits = UInt64(value.byteSwapped)
    digits = (digits | digits << 16) & 0x0000_ffff_0000_ffff
    digits = (digits | digits << 8) & 0x00ff_00ff_00ff_00ff
    digits = (digits >> 4 | digits << 8) & (ones &* 0x0f)
    let isLetter = (digits &+ ones &* 6) >> 4 & ones
    let spread = UInt64(upperCase) &* ones & 0x8040_2010_0804_0201
    let isUpper = (spread &+ ones &* 0x7f) >> 7 & ones | spread >> 7 & ones
    // '0' + digit; from 'a' on 0x27 further, and capitals 0x20 back.
    return digits &+ ones &* 0x30 &+ isLetter &* 0x27 &- (isLetter & isUpper) &* 0x20
  }

  /// The value of eight ASCII digits in either case, the first in the lowest byte; nil if one is none.
  @inlinable
  public static func decode(_ text: UInt64) -> UInt32? {
    let isLetter = text >> 6 & ones
    let digits = (text & (ones &* 0x0f)) &+ isLetter &* 9
    let isBeyond = digits & (ones &* 0x10)
    let above9 = (digits &+ ones &* 6) >> 4 & ones
    // Written again in lower case, it must be what it was.
    let spelled = digits &+ ones &* 0x30 &+ above9 &* 0x27
    guard isBeyond == 0, spelled == text | isLetter &* 0x20 else { return nil }
    var bytes = (digits << 4 | digits >> 8) & 0x00ff_00ff_00ff_00ff
    bytes = (bytes | bytes >> 8) & 0x0000_ffff_0000_ffff
    return UInt32(truncatingIfNeeded: bytes | bytes >> 16).byteSwapped
  }
}
