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

  /// The 24 bits that a character stands for in each of four places, one table after the other; `foreign` for one that
  /// stands for nothing. Allocated once for the life of the process.
  nonisolated(unsafe) private static let values: UnsafePointer<UInt32> = {
    let table = UnsafeMutablePointer<UInt32>.allocate(capacity: 1024)
    table.initialize(repeating: foreign, count: 1024)
    for (value, character) in alphabet.enumerated() {
      for place in 0..<4 {
        table[place * 256 + Int(character)] = UInt32(value) << UInt32(18 - 6 * place)
      }
    }
    return UnsafePointer(table)
  }()
  private static let foreign: UInt32 = 0xff00_0000

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

  /// Writes the bytes of a padded text without white space to `output`, which has room for `decodedLimit` and one more;
  /// answers how many there are, or nil if it is no such text.
  @inline(__always)
  static func decode(_ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer) -> Int? {
    guard let input = text.baseAddress, text.count > 0 else { return 0 }
    guard text.count & 3 == 0 else { return nil }
    let table = values
    var (seen, to): (UInt32, Int) = (0, 0)
    let whole = text.count &- 4
    var from = 0
    while from < whole {
      let group = decodeGroup(input + from, table)
      seen |= group
      (output + to).storeBytes(of: (group &<< 8).bigEndian, as: UInt32.self)
      (from, to) = (from &+ 4, to &+ 3)
    }
    guard seen < foreign, let last = decodeLast(input + whole, output + to) else { return nil }
    return to &+ last
  }

  @inline(__always)
  private static func decodeGroup(_ text: UnsafeRawPointer, _ table: UnsafePointer<UInt32>) -> UInt32 {
    let word = UInt32(littleEndian: text.loadUnaligned(as: UInt32.self))
    return table[Int(word & 255)] | table[256 &+ Int(word &>> 8 & 255)]
      | table[512 &+ Int(word &>> 16 & 255)] | table[768 &+ Int(word &>> 24)]
  }

  /// The last group, which may be padded.
  private static func decodeLast(_ text: UnsafeRawPointer, _ output: UnsafeMutableRawPointer) -> Int? {
    var characters = (0..<4).map { text.load(fromByteOffset: $0, as: UInt8.self) }
    var count = 3
    while count > 1, characters[count] == padding {
      characters[count] = alphabet[0]
      count -= 1
    }
    var group: UInt32 = 0
    for (place, character) in characters.enumerated() { group |= values[place * 256 + Int(character)] }
    guard group < foreign else { return nil }
    for index in 0..<count {
      output.storeBytes(
        of: UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index)), toByteOffset: index, as: UInt8.self)
    }
    // What padding stands for must have been nothing.
    return group & (count == 3 ? 0 : count == 2 ? 0xff : 0xffff) == 0 ? count : nil
  }
}
