// TODO(33)
extension OutputSpan where Element == UInt8 {
  /// Adds what `write` writes, as many bytes as it says.
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  public mutating func append(raw write: (UnsafeMutableRawPointer) -> Int) {
    withUnsafeMutableBufferPointer { room, count in
      count &+= room.baseAddress.map { write(UnsafeMutableRawPointer($0 + count)) } ?? 0
    }
  }
}

// TODO(33)
extension Phrase {
  public static func quoted(_ bytes: UnsafeRawBufferPointer?) -> Phrase {
    guard let bytes else { return "none" }
    return quoted(bytes.span)
  }
}

/// Comparisons that look at eight bytes at a time; they pass by for every field of every request.
extension UnsafeRawBufferPointer {
  /// Whether both hold the same bytes.
  @inlinable
  public func hasSameBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count == other.count else { return false }
    guard count >= 8 else { return hasSameFewBytes(as: other) }
    var position = 0
    while position &+ 8 <= count {
      guard hasSameWord(as: other, at: position) else { return false }
      position &+= 8
    }
    // The last eight, some of which were compared before.
    return position == count || hasSameWord(as: other, at: count &- 8)
  }

  @inlinable @inline(__always)
  func hasSameWord(as other: UnsafeRawBufferPointer, at position: Int) -> Bool {
    loadUnaligned(fromByteOffset: position, as: UInt64.self)
      == other.loadUnaligned(fromByteOffset: position, as: UInt64.self)
  }

  /// The same for less than eight bytes in both.
  @inlinable
  func hasSameFewBytes(as other: UnsafeRawBufferPointer) -> Bool {
    guard count < 4 else {
      let last = count &- 4
      return loadUnaligned(as: UInt32.self) == other.loadUnaligned(as: UInt32.self)
        && loadUnaligned(fromByteOffset: last, as: UInt32.self)
          == other.loadUnaligned(fromByteOffset: last, as: UInt32.self)
    }
    var position = 0
    while position < count {
      guard self[position] == other[position] else { return false }
      position &+= 1
    }
    return true
  }

  /// Whether one of these bytes is `byte`.
  @inlinable
  public func holds(_ byte: UInt8) -> Bool { place(of: byte) < count }

  /// Where `byte` is first, from `start` on; the number of bytes if it is nowhere.
  @inlinable
  public func place(of byte: UInt8, from start: Int = 0) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let wanted = ones &* UInt64(byte)
    var position = start
    while position &+ 8 <= count {
      // A byte of zero is what borrows from the bit above it without having that set itself.
      let difference = loadUnaligned(fromByteOffset: position, as: UInt64.self) ^ wanted
      if (difference &- ones) & ~difference & (ones &* 0x80) != 0 { break }
      position &+= 8
    }
    while position < count, self[position] != byte { position &+= 1 }
    return position
  }

  /// Whether these bytes spell a word.
  @inlinable
  public func spells(_ word: StaticString) -> Bool {
    hasSameBytes(as: UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount))
  }
}
