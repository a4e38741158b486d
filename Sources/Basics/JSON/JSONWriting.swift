/// JSON, written at the end. Millions of captured lines a second pass here.
extension ByteBuffer {
  /// JSON that is known to be so.
  @inlinable @inline(__always)
  public mutating func append(json text: StaticString) {
    append(text.bytes)
  }

  /// A string.
  public mutating func append(jsonString text: String) { text.withBytes { append(jsonString: $0) } }

  /// A string of UTF-8.
  public mutating func append(jsonString text: Span<UInt8>) {
    reserve(text.count + 2)
    append(UInt8(ascii: "\""))
    if JSONText.isPlain(text) { append(text) } else { appendEscaped(text) }
    append(UInt8(ascii: "\""))
  }

  private mutating func appendEscaped(_ text: Span<UInt8>) {
    for index in text.indices {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        append(UInt8(ascii: "\\"))
        append(byte)
      case 0x0a: append(json: "\\n")
      case 0x0d: append(json: "\\r")
      case 0x09: append(json: "\\t")
      case 0..<0x20, 0x7f:
        append(json: "\\u00")
        append(Hex.encode([byte]))
      default: append(byte)
      }
    }
  }

  /// A string that holds base64.
  @inlinable @inline(__always)
  public mutating func append(jsonBase64 bytes: Span<UInt8>) {
    reserve(bytes.count / 3 * 4 + 6)
    append(UInt8(ascii: "\""))
    append(atMost: bytes.count / 3 * 4 + 4) { Base64.encode(bytes, into: &$0) }
    append(UInt8(ascii: "\""))
  }
}
