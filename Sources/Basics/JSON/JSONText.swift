/// Tells JSON from other bytes, without reading its meaning (RFC 8259).
public enum JSONText {
  /// Deepest nesting taken, as a count. Payloads of some thousand bytes have no use for more.
  public static let maximumDepth = 512

  /// `bytes` without the white space between tokens, if they are exactly one JSON value in UTF-8; else nil. The
  /// result has no line break, so it can stand in a JSON line through `JSONValue.verbatim`.
  public static func compact(_ bytes: some Sequence<UInt8>) -> [UInt8]? {
    let input = Array(bytes)
    guard String(validating: input, as: UTF8.self) != nil, isJSON(input) else { return nil }
    return input.contains { $0 <= 0x20 } ? withoutBlanks(input) : input
  }

  /// Whether `bytes` are ASCII that needs no escape in a string. Eight at a time: a byte below 0x20, 0x7f, a quote, a backslash and
  /// whatever is above 0x7f leave a mark in its highest bit.
  @inlinable
  public static func isPlain(_ bytes: Span<UInt8>) -> Bool {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var (position, marks): (Int, UInt64) = (0, 0)
    while position &+ 8 <= bytes.count {
      let word = bytes.native(UInt64.self, at: position)
      let (quote, slash) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5c))
      marks |= word | (word &- ones &* 0x20) | (quote &- ones) | (slash &- ones) | (word &+ ones)
      position &+= 8
    }
    // What has no mark need not be looked at again.
    for index in (marks & (ones &* 0x80) == 0 ? position : 0)..<bytes.count where !isPlain(bytes[index]) {
      return false
    }
    return true
  }

  public static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7f && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private static func isJSON(_ bytes: [UInt8]) -> Bool {
    var cursor = JSONCursor(bytes.span)
    guard (try? cursor.skipValue(depth: maximumDepth)) != nil else { return false }
    cursor.skipBlanks()
    return cursor.isAtEnd
  }

  /// What is known to be JSON, without the blanks outside of its strings.
  private static func withoutBlanks(_ text: [UInt8]) -> [UInt8] {
    [UInt8](capacity: text.count) { output in
      var (isInside, isEscape) = (false, false)
      for byte in text where isInside || byte > 0x20 {
        output.append(byte)
        if byte == UInt8(ascii: "\""), !isEscape { isInside.toggle() }
        isEscape = isInside && !isEscape && byte == UInt8(ascii: "\\")
      }
    }
  }
}
