/// Comparisons that look at eight bytes at a time; they pass by for every field of every request.
extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes.
  @inlinable
  public func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    var position = 0
    while position &+ 8 <= count {
      let mine = loadUnaligned(fromByteOffset: position, as: UInt64.self)
      guard mine == other.loadUnaligned(fromByteOffset: position, as: UInt64.self) else { return false }
      position &+= 8
    }
    while position < count {
      guard self[position] == other[position] else { return false }
      position &+= 1
    }
    return true
  }

  /// Whether these bytes spell a word.
  @inlinable
  public func spells(_ word: StaticString) -> Bool {
    hasSameBytes(as: UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }
}
