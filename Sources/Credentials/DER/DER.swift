import Basics

/// ASN.1 values in DER (X.690).
public enum DER {
  static let integer: UInt8 = 0x02
  static let text: UInt8 = 0x0c
  static let sequence: UInt8 = 0x30

  /// Any value: its tag's one octet, its length, its content.
  public static func value(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    guard content.count >= 0x80 else { return [tag, UInt8(content.count)] + content }
    var length: [UInt8] = []
    length.append(bigEndian: content.count)
    length.removeFirst(length.prefix { $0 == 0 }.count)
    return [tag, 0x80 | UInt8(length.count)] + length + content
  }

  /// Takes the first value off `rest`, and answers its content; nil, with nothing taken, if it has another tag or is no DER.
  @_lifetime(copy rest)
  static func take(_ tag: UInt8, off rest: inout Span<UInt8>) -> Span<UInt8>? {
    guard rest.first == tag, let (start, count) = extent(of: rest), rest.count - start >= count else {
      return nil
    }
    let content = rest.extracting(start..<start + count)
    rest = rest.dropping(start + count)
    return content
  }

  /// The content of the only value in some bytes; nil if it has another tag, is no DER, or if more follows.
  @_lifetime(copy bytes)
  static func content(_ tag: UInt8, of bytes: Span<UInt8>) -> Span<UInt8>? {
    var rest = bytes
    guard let content = take(tag, off: &rest), rest.isEmpty else { return nil }
    return content
  }

  /// Where the content of the first value begins, and its bytes as a count, which may be more than there are. Nil unless the length has
  /// as few octets as it needs.
  private static func extent(of bytes: Span<UInt8>) -> (start: Int, count: Int)? {
    guard bytes.count >= 2 else { return nil }
    let first = Int(bytes[1])
    guard first >= 0x80 else { return (2, first) }
    // Four octets are more than any file here has.
    let octets = first & 0x7f
    guard (1...4).contains(octets), bytes.count >= 2 + octets, bytes[2] != 0 else { return nil }
    var count = 0
    for place in 2..<2 + octets { count = count << 8 | Int(bytes[place]) }
    return count >= 0x80 ? (2 + octets, count) : nil
  }
}
