/// Bytes of a text that grows at its end, in memory that is used again for the next text.
public struct TextBuffer: ~Copyable {
  private var buffer = ByteBuffer(capacity: 256)

  public init() {}

  /// What was written, lent until the next change.
  public var bytes: UnsafeRawBufferPointer { buffer.bytes }
  public var count: Int { buffer.count }

  public var text: String { String(decoding: bytes, as: UTF8.self) }

  public mutating func removeAll() { buffer.removeAll() }

  /// Keeps the first `limit` bytes, each that is not visible ASCII or a blank replaced: for places where nothing else may
  /// stand.
  public mutating func makeVisible(limit: Int) {
    buffer.removeAll(from: limit)
    makeVisible(from: 0)
  }

  // MARK: Writing

  public mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  public mutating func append(_ bytes: UnsafeRawBufferPointer) { buffer.append(bytes) }

  /// Bytes of a peer: what is not visible ASCII or a blank is replaced.
  public mutating func append(visible bytes: [UInt8]) {
    let start = count
    bytes.withUnsafeBytes { append($0) }
    makeVisible(from: start)
  }

  public mutating func append(_ byte: UInt8) { buffer.append(byte) }

  /// Decimal digits, with zeros before them up to `width`.
  public mutating func append(_ number: Int64, width: Int = 1) {
    if number < 0 { append(UInt8(ascii: "-")) }
    let start = count
    var rest = number.magnitude
    repeat {
      append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0 || count - start < width
    var digits = buffer.mutableBytes[start...]
    digits.reverse()
  }

  private func makeVisible(from start: Int) {
    let bytes = buffer.mutableBytes
    for index in start..<count where bytes[index] < 0x20 || bytes[index] >= 0x7f {
      bytes[index] = UInt8(ascii: "?")
    }
  }
}

extension String {
  /// As text that cannot drive a terminal: control characters, which JSON allows above U+007E, and characters that nobody sees
  /// are written as numbers. For what a peer or a file has said.
  public var visible: String {
    var visible = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        visible.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
      default: visible.append(scalar)
      }
    }
    return String(visible)
  }
}
