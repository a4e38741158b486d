/// Base64 (RFC 4648) for everybody who reads or writes it, at the speed of the gateway: a table look-up for twelve bits there, and one
/// for two characters back.
public enum Base64 {
  /// How a text may be spelled.
  public enum Form: Sendable {
    /// The standard alphabet (section 4), padded, and bits left over are zero: no two texts stand for the same bytes.
    case strict
    /// The same, but the URL alphabet (section 5) too, and padding may be missing: provider tokens, in which clients send
    /// either (`Documentation/provider-api.md#provider-tokens`).
    case webToken
    /// The standard alphabet with any white space, padding or bits left over: what people and property lists hold.
    case forgiving
  }

  /// `bytes` in the standard alphabet, padded and without line breaks.
  public static func encode(_ bytes: some Sequence<UInt8>) -> String { encode(Array(bytes).span) }

  public static func encode(_ bytes: Span<UInt8>) -> String {
    let text = [UInt8](capacity: (bytes.count + 2) / 3 * 4) { encode(bytes, into: &$0) }
    return String(decoding: text, as: UTF8.self)
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
    var isWhole = false
    let bytes = [UInt8](capacity: decodedLimit(digits.count) + slack) {
      isWhole = decode(digits.span, into: &$0)
    }
    return isWhole ? bytes : nil
  }

  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// What the two alphabets have in each other's place.
  private static let differences = zip("+/".utf8, "-_".utf8).map { (standard: $0, url: $1) }

  // MARK: By tables

  /// Two characters for each twelve bits, the first in the lower byte.
  private static let pairs: [UInt16] = (0..<4096).map { value in
    UInt16(alphabet[value >> 6]) | UInt16(alphabet[value & 63]) << 8
  }

  /// The twelve bits that two characters stand for, the first in the lower byte; `foreign` where one stands for nothing.
  /// What is used of it fits the first cache.
  private static let values: [UInt16] = {
    var table = [UInt16](repeating: foreign, count: 1 << 16)
    for (high, first) in alphabet.enumerated() {
      for (low, second) in alphabet.enumerated() {
        table[Int(first) | Int(second) << 8] = UInt16(high << 6 | low)
      }
    }
    return table
  }()
  private static let foreign: UInt16 = 0xf000

  /// Adds the text of `bytes` in the standard alphabet, padded: four characters for each three bytes begun.
  @_lifetime(output: copy output)
  public static func encode(_ bytes: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
    let pairs = pairs
    let table = pairs.span
    var from = 0
    // Six bytes from a word of eight, as long as there is one.
    while from &+ 8 <= bytes.count {
      let word = bytes.bigEndian(UInt64.self, at: from)
      let text =
        UInt64(table[Int(word &>> 52)]) | UInt64(table[Int(word &>> 40 & 4095)]) &<< 16
        | UInt64(table[Int(word &>> 28 & 4095)]) &<< 32 | UInt64(table[Int(word &>> 16 & 4095)]) &<< 48
      output.append(native: text.littleEndian)
      from &+= 6
    }
    while from < bytes.count {
      encodeGroup(bytes.dropping(from).prefix(3), into: &output)
      from &+= 3
    }
  }

  /// One group of up to three bytes.
  @_lifetime(output: copy output)
  private static func encodeGroup(_ bytes: Span<UInt8>, into output: inout OutputSpan<UInt8>) {
    var group: UInt32 = 0
    for index in 0..<3 { group = group << 8 | UInt32(bytes.byte(at: index) ?? 0) }
    for digit in 0..<4 {
      output.append(digit <= bytes.count ? alphabet[Int(group >> UInt32(18 - 6 * digit) & 63)] : padding)
    }
  }

  /// Most bytes that a text of `count` characters stands for.
  public static func decodedLimit(_ count: Int) -> Int { count / 4 * 3 }

  /// Room that decoding wants behind what `decodedLimit` says.
  public static let slack = 8

  /// Adds the bytes of a text of the strict form to `output`, which has room for `decodedLimit` and `slack`; false, and
  /// nothing added, if it is no such text.
  @_lifetime(output: copy output)
  public static func decode(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) -> Bool {
    let start = output.count
    guard decodePrefix(text, into: &output) < text.count else { return true }
    output.removeLast(output.count - start)
    return false
  }

  /// The same for the padded text that `text` begins with, up to whatever can't belong to it; answers where that is.
  @_lifetime(output: copy output)
  public static func decodePrefix(_ text: Span<UInt8>, into output: inout OutputSpan<UInt8>) -> Int {
    let values = values
    let table = values.span
    var from = 0
    while from &+ 8 <= text.count {
      let word = UInt64(littleEndian: text.native(UInt64.self, at: from))
      let (first, second) = (table[Int(word & 0xffff)], table[Int(word &>> 16 & 0xffff)])
      let (third, fourth) = (table[Int(word &>> 32 & 0xffff)], table[Int(word &>> 48)])
      guard first | second | third | fourth < foreign else { break }
      let high = UInt64(first) &<< 52 | UInt64(second) &<< 40
      let group = high | UInt64(third) &<< 28 | UInt64(fourth) &<< 16
      output.append(native: group.bigEndian, size: 6)
      from &+= 8
    }
    // At most one whole group, and one that is padded.
    while from &+ 4 <= text.count,
      let count = decodeGroup(text.native(UInt32.self, at: from), into: &output)
    {
      from &+= 4
      if count < 3 { break }
    }
    return from
  }

  /// A group that may be padded, up to three bytes.
  @_lifetime(output: copy output)
  private static func decodeGroup(_ text: UInt32, into output: inout OutputSpan<UInt8>) -> Int? {
    var word = UInt32(littleEndian: text)
    var count = 3
    // Padding is read as the character for nothing.
    while count > 1, word &>> UInt32(8 * count) & 0xff == UInt32(padding) {
      word ^= UInt32(padding ^ alphabet[0]) &<< UInt32(8 * count)
      count -= 1
    }
    let (high, low) = (values[Int(word & 0xffff)], values[Int(word &>> 16)])
    guard high | low < foreign else { return nil }
    let group = UInt32(high) << 12 | UInt32(low)
    // What padding stands for must have been nothing.
    guard group & (count == 3 ? 0 : count == 2 ? 0xff : 0xffff) == 0 else { return nil }
    for index in 0..<count { output.append(UInt8(truncatingIfNeeded: group >> UInt32(16 - 8 * index))) }
    return count
  }
}
