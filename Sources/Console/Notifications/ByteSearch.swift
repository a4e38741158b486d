/// Looks for a text in bytes; ASCII letters are compared without case.
struct ByteSearch: Hashable {
  let text: String
  private let needle: [UInt8]

  init(_ text: String) {
    self.text = text
    needle = text.utf8.map(Self.folded)
  }

  func isIn(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = needle.first else { return true }
    guard bytes.count >= needle.count else { return false }
    for start in 0...(bytes.count - needle.count) where Self.folded(bytes[start]) == first {
      if isAt(start, bytes) { return true }
    }
    return false
  }

  private func isAt(_ start: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    for (offset, byte) in needle.enumerated() where Self.folded(bytes[start + offset]) != byte {
      return false
    }
    return true
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
