/// Base64 (RFC 4648, section 4), as payloads and certificates appear in JSON and property lists.
public enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// `bytes` with padding and without line breaks.
  public static func encode(_ bytes: some Collection<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var group: UInt32 = 0
    var count = 0
    for byte in bytes {
      (group, count) = (group << 8 | UInt32(byte), count + 1)
      if count == 3 {
        append(group, digits: 4, to: &text)
        (group, count) = (0, 0)
      }
    }
    if count > 0 { append(group << UInt32(24 - 8 * count), digits: count + 1, to: &text) }
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(_ group: UInt32, digits: Int, to text: inout [UInt8]) {
    for digit in 0..<4 {
      let value = Int(group >> UInt32(18 - 6 * digit) & 63)
      text.append(digit < digits ? alphabet[value] : UInt8(ascii: "="))
    }
  }

  /// The bytes that ASCII `text` spells. White space is skipped and padding may be missing; nil for a foreign
  /// character, a lone last digit, or anything after the padding.
  public static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
    var bytes: [UInt8] = []
    var (group, count, isPadded): (UInt32, Int, Bool) = (0, 0, false)
    for character in text where !isWhiteSpace(character) {
      if character == UInt8(ascii: "=") {
        isPadded = true
        continue
      }
      guard !isPadded, let value = value(of: character) else { return nil }
      (group, count) = (group << 6 | value, count + 1)
      if count == 4 {
        bytes.append(contentsOf: [UInt8(group >> 16), UInt8(group >> 8 & 255), UInt8(group & 255)])
        (group, count) = (0, 0)
      }
    }
    switch count {
    case 1: return nil
    case 2: bytes.append(UInt8(group >> 4))
    case 3: bytes.append(contentsOf: [UInt8(group >> 10), UInt8(group >> 2 & 255)])
    default: break
    }
    return bytes
  }

  private static func isWhiteSpace(_ character: UInt8) -> Bool {
    character == 0x20 || (0x09...0x0d).contains(character)
  }

  private static func value(of character: UInt8) -> UInt32? {
    switch character {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
