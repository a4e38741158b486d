/// Looks for ends of lines, eight bytes at a time.
enum Newline {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  private static let byte = UInt8(ascii: "\n")

  /// Where the first newline from `start` on is; the number of bytes if there is none.
  @inline(__always)
  static func first(in bytes: UnsafeRawBufferPointer, from start: Int = 0) -> Int {
    var position = start
    while position &+ 8 <= bytes.count, !isNear(bytes, position) { position &+= 8 }
    while position < bytes.count, bytes[position] != byte { position &+= 1 }
    return position
  }

  /// Where the last newline is.
  static func last(in bytes: UnsafeRawBufferPointer) -> Int? {
    var end = bytes.count
    while end >= 8, !isNear(bytes, end &- 8) { end &-= 8 }
    while end > 0 {
      end &-= 1
      if bytes[end] == byte { return end }
    }
    return nil
  }

  /// Whether one is among eight bytes.
  @inline(__always)
  private static func isNear(_ bytes: UnsafeRawBufferPointer, _ position: Int) -> Bool {
    let word = bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self) ^ (ones &* UInt64(byte))
    return (word &- ones) & ~word & (ones &* 0x80) != 0
  }
}
