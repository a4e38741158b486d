/// Walks over the bytes of a JSON text (RFC 8259). Everything that reads JSON reads it with this: values, texts that are
/// only looked over, lines of a capture.
///
/// It goes no further than what it was asked for, and stops at the first byte that is not as it should be. What it lends
/// lives as long as the text. Of members with the same name the last counts: readers let a later one take the place of an
/// earlier.
public struct JSONCursor: ~Escapable {
  @inlinable static var ones: UInt64 { 0x0101_0101_0101_0101 }
  @inlinable static var highs: UInt64 { 0x8080_8080_8080_8080 }

  public let bytes: Span<UInt8>
  public var position: Int

  /// Walks from `start` to the end of `bytes`.
  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  public init(_ bytes: Span<UInt8>, from start: Int = 0) { (self.bytes, position) = (bytes, start) }

  @inlinable @inline(__always)
  public var isAtEnd: Bool { position >= bytes.count }

  @inlinable @inline(__always)
  public var next: UInt8? { bytes.byte(at: position) }

  /// What it has not passed.
  @inlinable @inline(__always)
  public var rest: Span<UInt8> {
    @_lifetime(copy self) get { bytes.dropping(position) }
  }

  /// Something else stands here, or at `place`.
  @inline(never)
  public func unexpected(_ expected: String, at place: Int? = nil) -> JSONSurprise {
    JSONSurprise(expected: expected, position: place ?? position)
  }

  public func tooDeep() -> JSONSurprise {
    JSONSurprise(expected: "fewer values in each other", position: position, kind: .depth)
  }

  /// What stands at `place`, short enough for a message.
  public func found(at place: Int) -> String? {
    guard place < bytes.count else { return nil }
    let found = bytes.dropping(place)
    let shown = Array(found.prefix(32)).map { $0 >= 0x20 && $0 < 0x7f ? Character(Unicode.Scalar($0)) : "." }
    return String(shown) + (found.count > 32 ? "…" : "")
  }

  // MARK: Marks and words

  @inlinable @inline(__always)
  public mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { position &+= 1 }
  }

  /// Whether this byte comes next, which is then passed.
  @inlinable @inline(__always)
  public mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard next == byte else { return false }
    position &+= 1
    return true
  }

  @inlinable @inline(__always)
  public mutating func expect(_ byte: UInt8) throws(JSONSurprise) {
    guard take(byte) else { throw unexpected("\"\(Character(Unicode.Scalar(byte)))\"") }
  }

  /// Whether these bytes come at once, without blanks before them.
  @inlinable @inline(__always)
  public mutating func takeAtOnce(_ word: StaticString) -> Bool {
    guard rest.begins(with: word) else { return false }
    position &+= word.bytes.count
    return true
  }

  public mutating func take(_ word: StaticString) -> Bool {
    skipBlanks()
    return takeAtOnce(word)
  }

  public mutating func boolean() throws(JSONSurprise) -> Bool {
    if take("true") { return true }
    guard take("false") else { throw unexpected("true or false") }
    return false
  }

  // MARK: Strings

  /// The inside of a string.
  @inlinable @inline(__always)
  @_lifetime(copy self)
  public mutating func string() throws(JSONSurprise) -> JSONString {
    guard take(UInt8(ascii: "\"")) else { throw unexpected("a string") }
    let start = position
    var isEscaped = false
    skipPlain()
    while let byte = next, byte >= 0x20 {
      position &+= 1
      if byte == UInt8(ascii: "\"") {
        return JSONString(bytes: bytes.extracting(start..<position &- 1), isEscaped: isEscaped)
      }
      guard byte == UInt8(ascii: "\\") else { continue }
      isEscaped = true
      try skipEscape()
      skipPlain()
    }
    throw unexpected("the end of a string")
  }

  /// Passes over eight bytes at a time as long as no quote, no backslash and no control character is among them.
  @inlinable @inline(__always)
  mutating func skipPlain() {
    while position &+ 8 <= bytes.count {
      let word = bytes.native(UInt64.self, at: position)
      let (quote, slash) = (word ^ (Self.ones &* 0x22), word ^ (Self.ones &* 0x5c))
      let special = (quote &- Self.ones) & ~quote | (slash &- Self.ones) & ~slash
      let control = (word &- Self.ones &* 0x20) & ~word
      if (special | control) & Self.highs != 0 { return }
      position &+= 8
    }
  }

  public mutating func skipEscape() throws(JSONSurprise) {
    guard let mark = next, JSONString.escapes.contains(mark) || mark == UInt8(ascii: "u") else {
      throw unexpected("an escape")
    }
    position += 1
    guard mark == UInt8(ascii: "u") else { return }
    for _ in 0..<4 {
      guard let digit = next, Hex.value(digit) != nil else { throw unexpected("a hexadecimal digit") }
      position += 1
    }
  }

  // MARK: Numbers

  /// Any number, as it is spelled: no leading zeros or plus, digits on both sides of the point (RFC 8259 6).
  @_lifetime(copy self)
  public mutating func number() throws(JSONSurprise) -> Span<UInt8> {
    skipBlanks()
    let start = position
    _ = takeAtOnce("-")
    guard takeAtOnce("0") || skipDigits() else { throw unexpected("a value", at: start) }
    if takeAtOnce("."), !skipDigits() { throw unexpected("a number", at: start) }
    if takeAtOnce("e") || takeAtOnce("E") {
      _ = takeAtOnce("+") || takeAtOnce("-")
      guard skipDigits() else { throw unexpected("a number", at: start) }
    }
    return bytes.extracting(start..<position)
  }

  /// Passes over digits; whether there are any.
  private mutating func skipDigits() -> Bool {
    let start = position
    while let byte = next, byte &- 0x30 < 10 { position += 1 }
    return position > start
  }

  /// A whole number that is not negative.
  @inlinable @inline(__always)
  public mutating func whole(upTo limit: Int64) throws(JSONSurprise) -> Int64 {
    skipBlanks()
    let start = position
    guard let value = wholeAtOnce(), next != UInt8(ascii: "."), (next ?? 0) | 0x20 != UInt8(ascii: "e") else {
      throw unexpected("a whole number", at: start)
    }
    guard value <= limit.magnitude else { throw unexpected("a number up to \(limit)", at: start) }
    return Int64(truncatingIfNeeded: value)
  }

  /// Digits, without blanks before them; the largest value if they say more. nil if there are none.
  @inlinable @inline(__always)
  public mutating func wholeAtOnce() -> UInt64? {
    let start = position
    var value: UInt64 = 0
    while let (part, count) = digits() {
      let (product, overflow) = value.multipliedReportingOverflow(by: Self.power(count))
      let (sum, carry) = product.addingReportingOverflow(part)
      value = overflow || carry ? .max : sum
      if count < 8 { break }
    }
    return position > start ? value : nil
  }

  /// What the next digits say, up to eight of them, and how many there are; nil if there are none.
  @inlinable @inline(__always)
  mutating func digits() -> (value: UInt64, count: Int)? {
    guard position &+ 8 <= bytes.count else { return lastDigits() }
    let word = UInt64(littleEndian: bytes.native(UInt64.self, at: position)) ^ (Self.ones &* 0x30)
    // A byte above 9 gets its highest bit; those before the first such byte are right.
    let foreign = ((word &+ Self.ones &* 0x76) | word) & Self.highs
    let count = foreign.trailingZeroBitCount / 8
    guard count > 0 else { return nil }
    position &+= count
    // Zeros go before them; then neighbours are joined to pairs, fours and eight.
    var value = word &<< UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    value = (value &* (10 &<< 8 &+ 1)) &>> 8 & 0x00ff_00ff_00ff_00ff
    value = (value &* (100 &<< 16 &+ 1)) &>> 16 & 0x0000_ffff_0000_ffff
    value = (value &* (10_000 &<< 32 &+ 1)) &>> 32
    return (value, count)
  }

  /// As `digits`, less than eight bytes before the end.
  public mutating func lastDigits() -> (value: UInt64, count: Int)? {
    let start = position
    var value: UInt64 = 0
    while let byte = next, byte &- 0x30 < 10 {
      value = value &* 10 &+ UInt64(byte &- 0x30)
      position &+= 1
    }
    return position > start ? (value, position - start) : nil
  }

  @inlinable @inline(__always)
  static func power(_ exponent: Int) -> UInt64 {
    switch exponent {
    case 1: 10
    case 2: 100
    case 3: 1000
    case 4: 10_000
    case 5: 100_000
    case 6: 1_000_000
    case 7: 10_000_000
    default: 100_000_000
    }
  }

  // MARK: Values in each other

  /// Walks over the members of an object; `body` takes each value.
  @inlinable @inline(__always)
  public mutating func members(
    _ body: (_ name: JSONString, inout JSONCursor) throws(JSONSurprise) -> Void
  ) throws(JSONSurprise) {
    try expect(UInt8(ascii: "{"))
    if take(UInt8(ascii: "}")) { return }
    repeat {
      let name = try string()
      try expect(UInt8(ascii: ":"))
      try body(name, &self)
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  /// Walks over the elements of an array; `body` takes each.
  @inlinable @inline(__always)
  public mutating func elements(
    _ body: (inout JSONCursor) throws(JSONSurprise) -> Void
  ) throws(JSONSurprise) {
    try expect(UInt8(ascii: "["))
    if take(UInt8(ascii: "]")) { return }
    repeat { try body(&self) } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }

  /// Passes over any value, in which there may be values in each other `depth` deep.
  public mutating func skipValue(depth: Int) throws(JSONSurprise) {
    var count = 0
    try skipValue(depth: depth, counting: &count)
  }

  /// The same, and counts it and those in it.
  mutating func skipValue(depth: Int, counting count: inout Int) throws(JSONSurprise) {
    skipBlanks()
    guard depth > 0 else { throw tooDeep() }
    count &+= 1
    switch next {
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "{"):
      try members { _, cursor throws(JSONSurprise) in try cursor.skipValue(depth: depth - 1, counting: &count)
      }
    case UInt8(ascii: "["):
      try elements { cursor throws(JSONSurprise) in try cursor.skipValue(depth: depth - 1, counting: &count) }
    case UInt8(ascii: "t") where takeAtOnce("true"): return
    case UInt8(ascii: "f") where takeAtOnce("false"): return
    case UInt8(ascii: "n") where takeAtOnce("null"): return
    default: _ = try number()
    }
  }
}

/// A text is not what was expected, from some byte on.
public struct JSONSurprise: Error {
  /// What it is that is wrong.
  public enum Kind: Sendable {
    case syntax
    /// There are too many values in each other.
    case depth
    /// A byte is no part of UTF-8.
    case encoding
  }

  public let expected: String
  public let position: Int
  public var kind = Kind.syntax
}

/// The inside of a string, as it is written; lent by the text.
public struct JSONString: ~Escapable {
  public let bytes: Span<UInt8>
  public let isEscaped: Bool

  @inlinable @inline(__always)
  @_lifetime(copy bytes)
  init(bytes: Span<UInt8>, isEscaped: Bool) { (self.bytes, self.isEscaped) = (bytes, isEscaped) }

  /// What may stand behind a backslash, besides `u` and four digits, and what it means.
  static let escapes = Array("\"\\/bfnrt".utf8)
  private static let meanings = Array("\"\\/\u{08}\u{0c}\n\r\t".utf8)

  @inlinable @inline(__always)
  public func spells(_ word: StaticString) -> Bool { bytes.spells(word) }

  /// Without its escapes. Bytes that are not UTF-8 and lone surrogates become U+FFFD.
  public var text: String {
    guard isEscaped else { return bytes.text }
    var (plain, position) = ([UInt8](), 0)
    while let byte = bytes.byte(at: position) {
      position += 1
      guard byte == UInt8(ascii: "\\"), let mark = bytes.byte(at: position) else {
        plain.append(byte)
        continue
      }
      position += 1
      if let index = Self.escapes.firstIndex(of: mark) {
        plain.append(Self.meanings[index])
      } else {
        plain.append(contentsOf: String(scalar(&position)).utf8)
      }
    }
    return String(decoding: plain, as: UTF8.self)
  }

  /// Behind `\u`.
  private func scalar(_ position: inout Int) -> Unicode.Scalar {
    let first = codeUnit(&position)
    if let scalar = Unicode.Scalar(first) { return scalar }
    guard first < 0xdc00, bytes.dropping(position).begins(with: "\\u") else { return "\u{fffd}" }
    var behind = position + 2
    let second = codeUnit(&behind)
    guard (0xdc00...0xdfff).contains(second) else { return "\u{fffd}" }
    position = behind
    return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)) ?? "\u{fffd}"
  }

  private func codeUnit(_ position: inout Int) -> UInt32 {
    let digits = bytes.dropping(position).prefix(4)
    position += digits.count
    var unit: UInt32 = 0
    for index in digits.indices { unit = unit << 4 | UInt32(Hex.value(digits[index]) ?? 0) }
    return unit
  }
}
