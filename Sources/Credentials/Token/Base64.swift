/// Base64 as it occurs in provider tokens: the URL alphabet without padding, and what some clients send instead
/// (`Documentation/provider-api.md#provider-tokens`: padded, standard alphabet).
enum Base64 {
  /// The bytes that `text` stands for, in either alphabet, padded or not; nil for anything else.
  ///
  /// Bits left over at the end must be zero, so that no two texts stand for the same bytes but for alphabet and padding.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard let digits = withoutPadding(text), digits.count % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count * 3 / 4)
    var (bits, count): (UInt32, Int) = (0, 0)
    for digit in digits {
      guard let value = value(digit) else { return nil }
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        bits &= (1 << UInt32(count)) - 1
      }
    }
    return bits == 0 ? bytes : nil
  }

  /// The URL alphabet without padding (RFC 7515 2).
  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count * 4 + 2) / 3)
    var (bits, count): (UInt32, Int) = (0, 0)
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        text.append(alphabet[Int(bits >> UInt32(count) & 63)])
      }
      bits &= (1 << UInt32(count)) - 1
    }
    if count > 0 { text.append(alphabet[Int(bits << UInt32(6 - count) & 63)]) }
    return String(decoding: text, as: UTF8.self)
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// Without one or two `=` at the end; nil if they are there but don't fill up a group of four.
  private static func withoutPadding(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let padding = text.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding > 0 else { return text }
    return text.count.isMultiple(of: 4) ? text.dropLast(padding) : nil
  }

  private static func value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "-"), UInt8(ascii: "+"): 62
    case UInt8(ascii: "_"), UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
