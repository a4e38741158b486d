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
