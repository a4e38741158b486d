import CProcessor

/// Base64 (RFC 4648) for everybody who reads or writes it, at the speed of the gateway: with vector instructions where the
/// processor has them (`CProcessor`); for the rest, a table look-up for twelve bits there, and one for two characters back.
public enum Base64 {
  /// How a text may be spelled.
  @frozen public enum Form: Sendable {
    /// The standard alphabet (section 4), padded, and bits left over are zero: no two texts stand for the same bytes.
    case strict
    /// The same, but the URL alphabet (section 5) too, and padding may be missing: provider tokens, in which clients send
    /// either (`Documentation/provider-api.md#provider-tokens`).
    case webToken
    /// The standard alphabet with any white space, padding or bits left over: what people and property lists hold.
    case forgiving
  }

  /// `bytes` in the standard alphabet, padded and without line breaks.
  public static func encode(_ bytes: some Collection<UInt8>) -> String {
    let text = bytes.withContiguousStorageIfAvailable { bytes in
      String(unsafeUninitializedCapacity: (bytes.count + 2) / 3 * 4) { output in
        output.baseAddress.map { encode(UnsafeRawBufferPointer(bytes), to: $0) } ?? 0
      }
    }
    return text ?? encode(Array(bytes))
  }

  /// `bytes` in the URL alphabet without padding, as JSON web tokens have it (RFC 7515 2).
  public static func encodeForURL(_ bytes: some Collection<UInt8>) -> String {
    let text = encode(bytes).utf8.prefix { $0 != padding }.map { character in
      differences.first { $0.standard == character }?.url ?? character
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes that ASCII `text` stands for in the given form; nil if it is not of that form.
  public static func decode(_ text: some Sequence<UInt8>, _ form: Form = .forgiving) -> [UInt8]? {
    var digits = digits(of: text, form)
    var added = 0
    if form != .strict, digits.last != padding {
      added = -digits.count & 3
      // Where bits may be left over, they are those of a character that is discarded.
      digits += repeatElement(form == .forgiving ? alphabet[0] : padding, count: added)
    }
    guard form != .forgiving || added < 3, var bytes = decodeStrictly(digits) else { return nil }
    if form == .forgiving { bytes.removeLast(added) }
    return bytes
  }

  /// The text in the standard alphabet, without what the form lets be skipped.
  private static func digits(of text: some Sequence<UInt8>, _ form: Form) -> [UInt8] {
    switch form {
    case .strict: return Array(text)
    case .webToken:
      return text.map { character in
        differences.first { $0.url == character }?.standard ?? character
      }
    case .forgiving:
      var digits = text.filter { $0 != 0x20 && !(0x09...0x0d).contains($0) }
      while digits.last == padding { digits.removeLast() }
      return digits
    }
  }

  private static func decodeStrictly(_ digits: [UInt8]) -> [UInt8]? {
    var isWhole = true
    let bytes = [UInt8](unsafeUninitializedCapacity: decodedLimit(digits.count) + slack) { output, count in
      let decoded = digits.withUnsafeBytes { text in
        output.baseAddress.flatMap { decode(text, to: $0) }
      }
      (count, isWhole) = (decoded ?? 0, decoded != nil)
    }
    return isWhole ? bytes : nil
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// What the two alphabets have in each other's place.
  private static let differences = zip("+/".utf8, "-_".utf8).map { (standard: $0, url: $1) }

  // MARK: Memory

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

  /// Writes the text of `bytes` in the standard alphabet, padded; answers its length, four for each three bytes begun.
  @inline(__always)
  public static func encode(_ bytes: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer) -> Int {
    guard let input = bytes.baseAddress else { return 0 }
    let (count, table) = (bytes.count, pairs)
    var from = base64_encode_most(input, count, output)
    var to = from / 3 &* 4
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
  public static func decodedLimit(_ count: Int) -> Int { count / 4 * 3 }

  /// Bytes behind what `decodedLimit` says that may be written to, as rubbish.
  public static let slack = 8

  /// Writes the bytes of a text of the strict form to `output`, which has room for `decodedLimit` and `slack`;
  /// answers how many there are, or nil if it is no such text.
  @inline(__always)
  public static func decode(_ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer) -> Int? {
    var read = 0
    let written = decodePrefix(text, to: output, &read)
    return read == text.count ? written : nil
  }

  /// The same for the padded text that `text` begins with, up to whatever can't belong to it; `read` says where that is.
  /// Apart from its caller, so that all its values stay in registers.
  @inline(never)
  public static func decodePrefix(
    _ text: UnsafeRawBufferPointer, to output: UnsafeMutableRawPointer, _ read: inout Int
  ) -> Int? {
    read = 0
    guard let input = text.baseAddress else { return 0 }
    let table = values
    var from = base64_decode_most(input, text.count, output)
    var to = from / 4 &* 3
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
