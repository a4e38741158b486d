import PushModel

/// Walks over the JSON of one line. Stops at the end of the line at the latest; what it lends lies in the line.
struct LineCursor {
  /// Deepest nesting of what is skipped.
  private static let maximumDepth = 32

  private let base: UnsafeRawPointer
  let end: Int
  let line: Int
  var position: Int

  init(_ base: UnsafeRawPointer, from start: Int, to end: Int, line: Int) {
    (self.base, position, self.end, self.line) = (base, start, end, line)
  }

  @inline(__always)
  var next: UInt8? { position < end ? base.load(fromByteOffset: position, as: UInt8.self) : nil }

  // MARK: Trouble

  func unexpected(_ expected: String) -> CaptureError {
    CaptureError(line: line, expected: expected, got: found)
  }

  /// What stands here, short enough for a message.
  private var found: String {
    guard position < end else { return "the end of the line" }
    let bytes = UnsafeRawBufferPointer(start: base + position, count: min(32, end - position))
    let shown = bytes.map { $0 >= 0x20 && $0 < 0x7f ? Character(Unicode.Scalar($0)) : "." }
    return String(shown) + (end - position > 32 ? "…" : "")
  }

  // MARK: Pieces

  @inline(__always)
  mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0d { position &+= 1 }
  }

  @inline(__always)
  mutating func take(_ byte: UInt8) -> Bool {
    skipBlanks()
    guard next == byte else { return false }
    position &+= 1
    return true
  }

  @inline(__always)
  mutating func expect(_ byte: UInt8) throws(CaptureError) {
    guard take(byte) else { throw unexpected("\"\(Character(Unicode.Scalar(byte)))\"") }
  }

  /// The inside of a string, as written, and whether it has escapes.
  @inline(__always)
  mutating func string() throws(CaptureError) -> (bytes: UnsafeRawBufferPointer, isEscaped: Bool) {
    try expect(UInt8(ascii: "\""))
    let start = position
    var isEscaped = false
    skipPlain()
    while let byte = next {
      if byte == UInt8(ascii: "\"") {
        let bytes = UnsafeRawBufferPointer(start: base + start, count: position - start)
        position &+= 1
        return (bytes, isEscaped)
      }
      if byte == UInt8(ascii: "\\") {
        isEscaped = true
        position &+= 1
      }
      position &+= 1
    }
    position = end
    throw unexpected("the end of a string")
  }

  /// Passes over eight bytes at a time as long as neither a quote nor a backslash is among them.
  @inline(__always)
  private mutating func skipPlain() {
    let ones: UInt64 = 0x0101_0101_0101_0101
    while position &+ 8 <= end {
      let word = (base + position).loadUnaligned(as: UInt64.self)
      let (quote, slash) = (word ^ (ones &* 0x22), word ^ (ones &* 0x5c))
      let hit = ((quote &- ones) & ~quote) | ((slash &- ones) & ~slash)
      if hit & (ones &* 0x80) != 0 { return }
      position &+= 8
    }
  }

  /// A whole number that is not negative.
  @inline(__always)
  mutating func number(upTo limit: Int64) throws(CaptureError) -> Int64 {
    skipBlanks()
    let start = position
    var value: Int64 = 0
    while let byte = next, byte &- 0x30 < 10 {
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = product.addingReportingOverflow(Int64(byte &- 0x30))
      guard !overflow, !carry, sum <= limit else {
        position = start
        throw unexpected("a number up to \(limit)")
      }
      value = sum
      position &+= 1
    }
    guard position > start, next != UInt8(ascii: "."), next != UInt8(ascii: "e") else {
      position = start
      throw unexpected("a whole number")
    }
    return value
  }

  mutating func word(_ word: StaticString) -> Bool {
    skipBlanks()
    let count = word.utf8CodeUnitCount
    guard end - position >= count else { return false }
    for index in 0..<count
    where base.load(fromByteOffset: position + index, as: UInt8.self) != word.utf8Start[index] {
      return false
    }
    position += count
    return true
  }

  mutating func boolean() throws(CaptureError) -> Bool {
    if word("true") { return true }
    guard word("false") else { throw unexpected("true or false") }
    return false
  }

  /// Passes over any value.
  mutating func skipValue(depth: Int = 0) throws(CaptureError) {
    skipBlanks()
    guard depth < Self.maximumDepth else {
      throw unexpected("at most \(Self.maximumDepth) values in each other")
    }
    switch next {
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "{"):
      try members { _, cursor throws(CaptureError) in try cursor.skipValue(depth: depth + 1) }
    case UInt8(ascii: "["):
      try elements { cursor throws(CaptureError) in try cursor.skipValue(depth: depth + 1) }
    default: try skipWord()
    }
  }

  private mutating func skipWord() throws(CaptureError) {
    let start = position
    while let byte = next, byte != UInt8(ascii: ","), byte != UInt8(ascii: "}"), byte != UInt8(ascii: "]"),
      byte != 0x20
    {
      position += 1
    }
    if position == start { throw unexpected("a value") }
  }

  /// Walks over the members of an object; `body` takes each value.
  @inline(__always)
  mutating func members(
    _ body: (_ name: UnsafeRawBufferPointer, inout LineCursor) throws(CaptureError) -> Void
  ) throws(CaptureError) {
    try expect(UInt8(ascii: "{"))
    if take(UInt8(ascii: "}")) { return }
    repeat {
      skipBlanks()
      let name = try string().bytes
      try expect(UInt8(ascii: ":"))
      try body(name, &self)
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  /// Walks over the elements of an array; `body` takes each.
  mutating func elements(_ body: (inout LineCursor) throws(CaptureError) -> Void) throws(CaptureError) {
    try expect(UInt8(ascii: "["))
    if take(UInt8(ascii: "]")) { return }
    repeat { try body(&self) } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }
}

extension LineCursor {
  /// A string of base64, decoded to the end of `text`.
  @inline(__always)
  mutating func base64(into text: CaptureText) throws(CaptureError) -> CaptureEntry.Piece {
    skipBlanks()
    let start = position
    let (digits, isEscaped) = try string()
    let written = text.extend(atMost: Base64.decodedLimit(digits.count) + Base64.slack) {
      isEscaped ? nil : Base64.decode(digits, to: $0)
    }
    guard let written else {
      position = start
      throw unexpected("base64")
    }
    return written
  }

  /// A string, without its escapes.
  mutating func text() throws(CaptureError) -> String {
    skipBlanks()
    let start = position
    let (bytes, isEscaped) = try string()
    guard isEscaped else { return String(decoding: bytes, as: UTF8.self) }
    let quoted = [UInt8(ascii: "\"")] + bytes + [UInt8(ascii: "\"")]
    guard case .string(let plain)? = JSONReader.read(quoted) else {
      position = start
      throw unexpected("a string")
    }
    return plain
  }

  /// A string that names a value.
  mutating func named<Value>(_ expected: String, _ value: (String) -> Value?) throws(CaptureError) -> Value {
    skipBlanks()
    let start = position
    guard let value = value(try text()) else {
      position = start
      throw unexpected(expected)
    }
    return value
  }

  /// The outcome of a push.
  mutating func outcome() throws(CaptureError) -> CapturedOutcome {
    var outcome = CapturedOutcome.silence
    try members { name, cursor throws(CaptureError) in
      switch String(decoding: name, as: UTF8.self) {
      case "status": outcome.status = Int(try cursor.number(upTo: 999))
      case "reason": outcome.reason = try cursor.text()
      case "identifier":
        outcome.identifier = UInt32(truncatingIfNeeded: try cursor.number(upTo: Int64(UInt32.max)))
      case "closed": outcome.isClosed = try cursor.boolean()
      case "apnsId": outcome.messageID = MessageID(try cursor.text())
      default: try cursor.skipValue()
      }
    }
    return outcome
  }

  // MARK: Requests

  /// A request, its pieces at the end of `text`.
  mutating func request(into text: CaptureText) throws(CaptureError) -> CaptureEntry {
    var entry = CaptureEntry(kind: .request, line: line)
    var parts = 0
    try members { name, cursor throws(CaptureError) in
      switch String(decoding: name, as: UTF8.self) {
      case "method":
        entry.method = try cursor.text(into: text)
        parts |= 1
      case "path":
        entry.path = try cursor.text(into: text)
        parts |= 2
      case "headers":
        entry.fields = try cursor.headers(into: text)
        parts |= 4
      case "body":
        entry.content = try cursor.base64(into: text)
        parts |= 8
      default: try cursor.skipValue()
      }
    }
    guard parts == 15 else { throw unexpected("a request with method, path, headers and body") }
    return entry
  }

  /// A string, without its escapes, at the end of `text`.
  private mutating func text(into text: CaptureText) throws(CaptureError) -> CaptureEntry.Piece {
    let start = position
    let (bytes, isEscaped) = try string()
    guard isEscaped else { return text.extend(bytes) }
    position = start
    let plain = Array(try self.text().utf8)
    return plain.withUnsafeBytes { text.extend($0) }
  }

  /// A list of pairs, as a `FieldBlock` at the end of `text`.
  private mutating func headers(into text: CaptureText) throws(CaptureError) -> CaptureEntry.Piece {
    let start = text.count
    try elements { cursor throws(CaptureError) in
      let lengths = text.count
      _ = text.extend(atMost: 4) { _ in 4 }
      try cursor.expect(UInt8(ascii: "["))
      let name = try cursor.headerPart(into: text)
      try cursor.expect(UInt8(ascii: ","))
      let value = try cursor.headerPart(into: text)
      try cursor.expect(UInt8(ascii: "]"))
      guard let nameCount = UInt16(exactly: name.count), let valueCount = UInt16(exactly: value.count) else {
        throw cursor.unexpected("header fields of at most \(UInt16.max) bytes")
      }
      text.store(nameCount, at: lengths)
      text.store(valueCount, at: lengths + 2)
    }
    return CaptureEntry.Piece(start: UInt32(start), count: UInt32(text.count - start))
  }

  /// A string, or null and base64 for bytes that are not UTF-8.
  private mutating func headerPart(into text: CaptureText) throws(CaptureError) -> CaptureEntry.Piece {
    guard word("null") else { return try self.text(into: text) }
    try expect(UInt8(ascii: ","))
    return try base64(into: text)
  }
}

/// A capture file is not what it should be.
public struct CaptureError: Error, Equatable, CustomStringConvertible {
  /// Counted from 1.
  public var line: Int
  /// What was expected and what came, a lower-case sentence.
  public var sentence: String

  init(line: Int, expected: String, got: String) {
    (self.line, sentence) = (line, "expected \(expected), got \(got)")
  }

  public var description: String { "line \(line): \(sentence)" }
}
