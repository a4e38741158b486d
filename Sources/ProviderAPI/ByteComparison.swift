/// Comparisons of a peer's bytes with words of the protocol, without making text of either.
extension UnsafeRawBufferPointer {
  @inline(__always)
  func hasPrefix(_ word: StaticString, ignoringCase: Bool = false) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    let letterBit: UInt8 = 0x20
    for index in 0..<word.utf8CodeUnitCount {
      let (ours, theirs) = (word.utf8Start[index], self[index])
      if ours == theirs { continue }
      let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(ours)
      guard ignoringCase, isLetter, theirs | letterBit == ours else { return false }
    }
    return true
  }

  @inline(__always)
  func isSpelled(_ word: StaticString, ignoringCase: Bool = false) -> Bool {
    count == word.utf8CodeUnitCount && hasPrefix(word, ignoringCase: ignoringCase)
  }
}

extension UnsafeRawBufferPointer? {
  @inline(__always)
  func isSpelled(_ word: StaticString, ignoringCase: Bool = false) -> Bool {
    self?.isSpelled(word, ignoringCase: ignoringCase) ?? false
  }
}
