import Basics

/// A UUID as `apns-id` and its kin carry it, with the letter case in which it was written, so that it can be echoed
/// exactly as sent (`Documentation/provider-api.md#request`).
public struct APNSID: Hashable, Sendable, BitwiseCopyable, CustomStringConvertible {
  /// Length of the canonical form `8-4-4-4-12`, in bytes.
  public static let textByteCount = 36

  /// The first and the last sixteen digits.
  public let high, low: UInt64
  /// Bit n: the nth digit, if it is a letter, is written in upper case.
  public let upperCase: UInt32

  /// The UUID of two words; upper case unless told otherwise, as Apple makes them
  /// (`Documentation/provider-api.md#response`).
  @inlinable
  public init(high: UInt64, low: UInt64, upperCase: UInt32 = .max) {
    (self.high, self.low, self.upperCase) = (high, low, upperCase)
  }

  /// Reads the canonical form in either case; nil for anything else.
  @inlinable
  public init?(_ text: Span<UInt8>) {
    guard text.count == Self.textByteCount else { return nil }
    var words: (UInt64, UInt64) = (0, 0)
    var upperCase: UInt32 = 0
    var digit: UInt32 = 0
    for index in 0..<Self.textByteCount {
      let character = text[index]
      if Self.isHyphen(index) {
        guard character == UInt8(ascii: "-") else { return nil }
        continue
      }
      guard let value = Hex.value(character) else { return nil }
      words = (words.0 << 4 | words.1 >> 60, words.1 << 4 | UInt64(value))
      if character >= UInt8(ascii: "A"), character <= UInt8(ascii: "F") { upperCase |= 1 << digit }
      digit &+= 1
    }
    self.init(high: words.0, low: words.1, upperCase: upperCase)
  }

  /// Reads the canonical form in either case; nil for anything else.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    self.init(bytes.span)
  }

  /// Adds the 36 characters to `output`, which must have room for them.
  @inlinable
  public func write(to output: inout OutputSpan<UInt8>) {
    let parts = (digits(0), digits(1), digits(2), digits(3))
    let hyphen = UInt8(ascii: "-")
    output.append(native: parts.0.littleEndian)
    output.append(native: hyphen)
    output.append(native: UInt32(truncatingIfNeeded: parts.1).littleEndian)
    output.append(native: hyphen)
    output.append(native: UInt32(truncatingIfNeeded: parts.1 >> 32).littleEndian)
    output.append(native: hyphen)
    output.append(native: UInt32(truncatingIfNeeded: parts.2).littleEndian)
    output.append(native: hyphen)
    output.append(native: UInt32(truncatingIfNeeded: parts.2 >> 32).littleEndian)
    output.append(native: parts.3.littleEndian)
  }

  /// The nth eight digits in ASCII, the first in the lowest byte.
  @inlinable
  func digits(_ part: Int) -> UInt64 {
    let word = part < 2 ? high : low
    let value = UInt32(truncatingIfNeeded: part & 1 == 0 ? word >> 32 : word)
    return HexWord.encode(value, upperCase: UInt8(truncatingIfNeeded: upperCase >> (8 * UInt32(part))))
  }

  /// The sixteen bytes of the UUID as two words in memory order; both zero for none.
  @inlinable
  public static func words(_ id: APNSID?) -> (UInt64, UInt64) {
    guard let id else { return (0, 0) }
    return (id.high.bigEndian, id.low.bigEndian)
  }

  /// Reads what `words` answers; nil for none.
  public init?(words: (UInt64, UInt64)) {
    guard words != (0, 0) else { return nil }
    self.init(high: words.0.bigEndian, low: words.1.bigEndian)
  }

  public var description: String {
    let text = [UInt8](capacity: Self.textByteCount) { write(to: &$0) }
    return text.span.text
  }

  /// Two ways of writing one UUID are one id.
  @inlinable
  public static func == (left: APNSID, right: APNSID) -> Bool {
    left.high == right.high && left.low == right.low
  }

  @inlinable
  public func hash(into hasher: inout Hasher) {
    hasher.combine(high)
    hasher.combine(low)
  }

  @inlinable
  static func isHyphen(_ index: Int) -> Bool { index == 8 || index == 13 || index == 18 || index == 23 }
}
