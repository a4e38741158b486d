import PushModel

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
