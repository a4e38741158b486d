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
