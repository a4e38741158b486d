import Basics

/// Classes of characters of HTTP's grammar (RFC 9110 5.6.2).
enum ASCII {
  static let space: UInt8 = 0x20
  static let tab: UInt8 = 0x09
  static let carriageReturn: UInt8 = 0x0d
  static let lineFeed: UInt8 = 0x0a

  static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }

  /// Whether `byte` may stand in a method or a field name.
  static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  /// Whether `byte` may stand in a field value: everything but controls.
  static func isFieldValue(_ byte: UInt8) -> Bool { byte == tab || (byte >= space && byte != 0x7f) }

  /// `bytes` without spaces and tabs at both ends.
  static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var rest = bytes
    while let first = rest.first, first == space || first == tab { rest.removeFirst() }
    while let last = rest.last, last == space || last == tab { rest.removeLast() }
    return rest
  }

  /// A decimal number of at most 18 digits; nil for anything else.
  static func decimal(_ digits: some Collection<UInt8>) -> Int? { number(digits, radix: 10, atMost: 18) }

  /// A hexadecimal number of at most 15 digits; nil for anything else.
  static func hexadecimal(_ digits: some Collection<UInt8>) -> Int? { number(digits, radix: 16, atMost: 15) }

  private static func number(_ digits: some Collection<UInt8>, radix: Int, atMost limit: Int) -> Int? {
    guard !digits.isEmpty, digits.count <= limit else { return nil }
    var value = 0
    for digit in digits {
      guard let part = Hex.value(digit), part < radix else { return nil }
      value = value * radix + Int(part)
    }
    return value
  }
}
