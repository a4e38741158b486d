/// Walks over DER values that lie side by side. A peer wrote the bytes: every length is checked, nothing traps.
struct DERReader {
  /// One value: its tag, and its content as a range of the reader's bytes.
  struct Element {
    var tag: UInt8
    var content: ArraySlice<UInt8>
  }

  /// Octets that a long length may have; four count 4 GiB, far above any input limit here.
  private static let longestLength = 4

  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }
  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Whether every byte was read.
  var isAtEnd: Bool { rest.isEmpty }

  /// The next value; nil at the end and when the bytes are not DER.
  mutating func next() -> Element? {
    var cursor = rest
    guard let tag = cursor.popFirst(), tag & 0x1f != 0x1f, let count = Self.length(&cursor),
      count <= cursor.count
    else { return nil }
    let content = cursor.prefix(count)
    rest = cursor.dropFirst(count)
    return Element(tag: tag, content: content)
  }

  /// X.690 10.1: definite and in the fewest octets.
  private static func length(_ cursor: inout ArraySlice<UInt8>) -> Int? {
    guard let first = cursor.popFirst() else { return nil }
    guard first >= 0x80 else { return Int(first) }
    let octets = Int(first & 0x7f)
    guard octets >= 1, octets <= longestLength, octets <= cursor.count else { return nil }
    let value = cursor.prefix(octets).reduce(0) { $0 << 8 | Int($1) }
    cursor = cursor.dropFirst(octets)
    guard value >= 0x80, octets == 1 || value >> (8 * (octets - 1)) > 0 else { return nil }
    return value
  }
}

/// The identifier octets used here (X.690 8.1.2).
package enum DERTag {
  static let boolean: UInt8 = 0x01
  static let integer: UInt8 = 0x02
  package static let bitString: UInt8 = 0x03
  static let octetString: UInt8 = 0x04
  static let null: UInt8 = 0x05
  static let objectIdentifier: UInt8 = 0x06
  static let utf8String: UInt8 = 0x0c
  static let sequence: UInt8 = 0x30
  /// Context-specific and primitive.
  static func context(_ number: UInt8) -> UInt8 { 0x80 | number }
}

/// Puts ASN.1 values into DER.
package enum DERWriter {
  /// Any value: tag, length, content.
  package static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    [tag] + length(content.count) + content
  }

  package static func sequence(_ members: [UInt8]...) -> [UInt8] {
    value(DERTag.sequence, members.flatMap { $0 })
  }
  static func sequence(of members: [[UInt8]]) -> [UInt8] { value(DERTag.sequence, members.flatMap { $0 }) }
  static func utf8String(_ text: String) -> [UInt8] { value(DERTag.utf8String, Array(text.utf8)) }
  package static func octetString(_ bytes: [UInt8]) -> [UInt8] { value(DERTag.octetString, bytes) }
  static func boolean(_ truth: Bool) -> [UInt8] { value(DERTag.boolean, [truth ? 0xff : 0]) }
  /// An INTEGER from 0 to 127.
  package static func smallInteger(_ number: UInt8) -> [UInt8] { value(DERTag.integer, [number & 0x7f]) }
  static let null: [UInt8] = [DERTag.null, 0]
  /// An OBJECT IDENTIFIER from the content bytes of its DER form.
  package static func objectIdentifier(_ content: [UInt8]) -> [UInt8] {
    value(DERTag.objectIdentifier, content)
  }

  private static func length(_ count: Int) -> [UInt8] {
    guard count >= 0x80 else { return [UInt8(count)] }
    var bytes: [UInt8] = []
    var rest = count
    while rest > 0 {
      bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(bytes.count)] + bytes
  }
}
