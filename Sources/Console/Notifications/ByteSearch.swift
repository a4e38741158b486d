import Basics

/// Looks for a text in bytes; ASCII letters are compared without case.
package struct ByteSearch: Hashable {
  let text: String
  private let needle: [UInt8]

  package init(_ text: String) {
    self.text = text
    needle = text.utf8.map(Self.folded)
  }

  package func isIn(_ bytes: Span<UInt8>) -> Bool {
    let needle = needle.span
    guard !needle.isEmpty else { return true }
    guard bytes.count >= needle.count else { return false }
    for start in 0...bytes.count - needle.count where Self.folded(bytes[start]) == needle[0] {
      if Self.isAt(start, bytes, needle) { return true }
    }
    return false
  }

  private static func isAt(_ start: Int, _ bytes: Span<UInt8>, _ needle: Span<UInt8>) -> Bool {
    for offset in needle.indices where folded(bytes[start + offset]) != needle[offset] { return false }
    return true
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
