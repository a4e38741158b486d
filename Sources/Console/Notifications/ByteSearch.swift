/// Looks for a text in bytes; ASCII letters are compared without case.
package struct ByteSearch: Hashable {
  let text: String
  private let needle: [UInt8]

  package init(_ text: String) {
    self.text = text
    needle = text.utf8.map(Self.folded)
  }

  /// False if it can't be in the bytes that the pairs are of.
  package func mayBeIn(_ pairs: BytePairs) -> Bool {
    var before: UInt8?
    for byte in needle {
      if let before, !pairs.contains(before, byte) { return false }
      before = byte
    }
    return true
  }

  package func isIn(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let first = needle.first, let last = needle.last else { return true }
    let ends = (first: AnyCase(first), last: AnyCase(last))
    let starts = 0..<max(0, bytes.count - needle.count + 1)
    var start = starts.lowerBound
    while start + Block.scalarCount <= starts.upperBound {
      let begins = ends.first.isIn(bytes.loadUnaligned(fromByteOffset: start, as: Block.self))
      let finishes = ends.last.isIn(
        bytes.loadUnaligned(fromByteOffset: start + needle.count - 1, as: Block.self))
      let found = begins .& finishes
      if Self.isAny(found) {
        for offset in 0..<Block.scalarCount where found[offset] && isAt(start + offset, bytes) { return true }
      }
      start += Block.scalarCount
    }
    return (start..<max(start, starts.upperBound)).contains { isAt($0, bytes) }
  }

  /// Starts that are looked at together: first and last byte at once, and only where both fit the bytes between.
  private typealias Block = SIMD16<UInt8>

  /// A byte in many lanes, both as a capital and as a small letter.
  private struct AnyCase {
    let small: Block
    let capital: Block

    init(_ folded: UInt8) {
      small = Block(repeating: folded)
      let isLetter = folded >= UInt8(ascii: "a") && folded <= UInt8(ascii: "z")
      capital = Block(repeating: isLetter ? folded & ~0x20 : folded)
    }

    @inline(__always)
    func isIn(_ block: Block) -> SIMDMask<SIMD16<Int8>> { block .== small .| block .== capital }
  }

  /// The library's `any` takes the lanes one by one.
  @inline(__always)
  private static func isAny(_ mask: SIMDMask<SIMD16<Int8>>) -> Bool {
    let lanes = Block(repeating: 0).replacing(with: Block(repeating: 1), where: mask)
    let halves = unsafeBitCast(lanes, to: SIMD2<UInt64>.self)
    return halves.x | halves.y != 0
  }

  private func isAt(_ start: Int, _ bytes: UnsafeRawBufferPointer) -> Bool {
    for (offset, byte) in needle.enumerated() where Self.folded(bytes[start + offset]) != byte {
      return false
    }
    return true
  }

  fileprivate static func folded(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}

/// Which bytes stand side by side in a text, ASCII letters without case: one pass tells of nearly all of many searched
/// texts that they are not there. Pairs share bits, so it may say yes too often and never no.
package struct BytePairs {
  private static let wordCount = 64
  private var words = [UInt64](repeating: 0, count: wordCount)

  package init(_ bytes: UnsafeRawBufferPointer) {
    guard let first = bytes.first else { return }
    var before = ByteSearch.folded(first)
    words.withUnsafeMutableBufferPointer { words in
      for byte in bytes.dropFirst() {
        let byte = ByteSearch.folded(byte)
        let (word, bit) = Self.place(before, byte)
        words[word] |= bit
        before = byte
      }
    }
  }

  func contains(_ first: UInt8, _ second: UInt8) -> Bool {
    let (word, bit) = Self.place(first, second)
    return words[word] & bit != 0
  }

  private static func place(_ first: UInt8, _ second: UInt8) -> (word: Int, bit: UInt64) {
    (Int(second) & (wordCount - 1), 1 << UInt64(first & 63))
  }
}
