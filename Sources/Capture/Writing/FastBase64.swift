/// Base64 (RFC 4648 4) at the speed of the gateway: a table look-up for twelve bits at a time there, a word for each of
/// four characters back.
enum FastBase64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// Two characters for each twelve bits, the first in the lower byte. Allocated once for the life of the process.
  nonisolated(unsafe) private static let pairs: UnsafePointer<UInt16> = {
    let table = UnsafeMutablePointer<UInt16>.allocate(capacity: 4096)
    for value in 0..<4096 {
      let pair = UInt16(alphabet[value >> 6]) | UInt16(alphabet[value & 63]) << 8
      (table + value).initialize(to: pair.littleEndian)
    }
    return UnsafePointer(table)
  }()

  /// The twelve bits that two characters stand for, the first in the lower byte; `foreign` where one stands for nothing.
  /// What is used of it fits the first cache. Allocated once for the life of the process.
  nonisolated(unsafe) private static let values: UnsafePointer<UInt16> = {
    let table = UnsafeMutablePointer<UInt16>.allocate(capacity: 1 << 16)
    table.initialize(repeating: foreign, count: 1 << 16)
    for (high, first) in alphabet.enumerated() {
      for (low, second) in alphabet.enumerated() {
        table[Int(first) | Int(second) << 8] = UInt16(high << 6 | low)
      }
    }
    return UnsafePointer(table)
  }()
  private static let foreign: UInt16 = 0xf000

  /// Writes the text of `bytes`; answers its length, four for each three bytes begun.
  @inline(__always)
  static func encode(_ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer) -> Int {
    guard let input = bytes.baseAddress else { return 0 }
    let (count, table) = (bytes.count, pairs)
    var (from, to) = (0, 0)
    // Six bytes from a word of eight, as long as there is one.
    while from &+ 8 <= count {
      let word = UInt64(bigEndian: (input + from).loadUnaligned(as: UInt64.self))
      let text =
        UInt64(table[Int(word &>> 52)]) | UInt64(table[Int(word &>> 40 & 4095)]) &<< 16
        | UInt64(table[Int(word &>> 28 & 4095)]) &<< 32 | UInt64(table[Int(word &>> 16 & 4095)]) &<< 48
      (output + to).storeBytes(of: text, as: UInt64.self)
      (from, to) = (from &+ 6, to &+ 8)
    }
    while from < count {
      encodeGroup(bytes, from, output + to)
      (from, to) = (from &+ 3, to &+ 4)
    }
    return to
  }

  /// One group of up to three bytes.
  private static func encodeGroup(
    _ bytes: UnsafeRawBufferPointer, _ start: Int, _ output: UnsafeMutableRawPointer
  ) {
    let left = min(3, bytes.count - start)
    var group: UInt32 = 0
    for index in 0..<3 { group = group << 8 | (index < left ? UInt32(bytes[start + index]) : 0) }
    for digit in 0..<4 {
      let character = digit <= left ? alphabet[Int(group >> UInt32(18 - 6 * digit) & 63)] : padding
      output.storeBytes(of: character, toByteOffset: digit, as: UInt8.self)
    }
  }

  /// Most bytes that a text of `count` characters stands for.
  static func decodedLimit(_ count: Int) -> Int { count / 4 * 3 }

  /// Bytes behind what `decodedLimit` says that may be written to, as rubbish.
  static let slack = 8

  /// Writes the bytes of a padded text without white space to `output`, which has room for `decodedLimit` and `slack`;
  /// answers how many there are, or nil if it is no such text.
  @inline(__always)
  static func decode(_ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer) -> Int? {
    var read = 0
    let written = decodePrefix(text, to: output, &read)
    return read == text.count ? written : nil
  }

  /// The same for the padded text that `text` begins with, up to whatever can't belong to it; `read` says where that is.
  /// Apart from its caller, so that all its values stay in registers.
  @inline(never)
  static func decodePrefix(
    _ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer, _ read: inout Int
  ) -> Int? {
    read = 0
    guard let input = text.baseAddress else { return 0 }
    let table = values
    var (from, to) = (0, 0)
    while from &+ 8 <= text.count {
      let word = UInt64(littleEndian: (input + from).loadUnaligned(as: UInt64.self))
      let (first, second) = (table[Int(word & 0xffff)], table[Int(word &>> 16 & 0xffff)])
      let (third, fourth) = (table[Int(word &>> 32 & 0xffff)], table[Int(word &>> 48)])
      guard first | second | third | fourth < foreign else { break }
      let high = UInt64(first) &<< 52 | UInt64(second) &<< 40
      let group = high | UInt64(third) &<< 28 | UInt64(fourth) &<< 16
      (output + to).storeBytes(of: group.bigEndian, as: UInt64.self)
      (from, to) = (from &+ 8, to &+ 6)
    }
    // At most one whole group, and one that is padded.
    while from &+ 4 <= text.count, let count = decodeGroup(input + from, output + to) {
      (from, to) = (from &+ 4, to &+ count)
      if count < 3 { break }
    }
    read = from
    return to
  }

  /// A group that may be padded, up to three bytes.
  private static func decodeGroup(_ text: UnsafeRawPointer, _ output: UnsafeMutableRawPointer) -> Int? {
    var word = UInt32(littleEndian: text.loadUnaligned(as: UInt32.self))
    var count = 3
    // Padding is read as the character for nothing.
    while count > 1, word &>> UInt32(8 * count) & 0xff == UInt32(padding) {
      word ^= UInt32(padding ^ alphabet[0]) &<< UInt32(8 * count)
      count -= 1
    }
    let (high, low) = (values[Int(word & 0xffff)], values[Int(word &>> 16)])
    guard high | low < foreign else { return nil }
    let group = UInt32(high) << 12 | UInt32(low)
    for index in 0..<count {
      output.storeBytes(
        of: UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index)), toByteOffset: index, as: UInt8.self)
    }
    // What padding stands for must have been nothing.
    return group & (count == 3 ? 0 : count == 2 ? 0xff : 0xffff) == 0 ? count : nil
  }
}
