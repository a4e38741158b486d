import Basics
import PushModel

/// The lines that nearly all pushes of the gateway are, in one pass:
///
///     {"ns":N,"connection":N,"frame":"<base64>"}
///     {"ns":N,"connection":N,"count":N,"frames":"<base64>"}
///
/// written just so, as the encoder does. Whatever differs from it is left to `LineReading`.
extension JSONCursor {
  /// What the line says, its frame at the end of `text`; nil, and nothing added, if it is another line. The last of all
  /// bytes is a newline.
  @inline(__always)
  mutating func frameLine(_ line: Int, into text: inout CaptureText) -> CaptureEntry? {
    guard takeAtOnce("{\"ns\":"), let nanoseconds = wholeAtOnce(), takeAtOnce(",\"connection\":"),
      let connection = wholeAtOnce(), let connection = UInt32(exactly: connection),
      let nanoseconds = Int64(exactly: nanoseconds), let frames = frames()
    else { return nil }
    let content = base64Prefix(into: &text)
    guard takeAtOnce("\"}\n"), frames == 1 || text.count(framesIn: content) == Int(frames) else {
      text.removeLast(Int(content.count))
      return nil
    }
    var entry = CaptureEntry(kind: .frame, line: line, nanoseconds: nanoseconds, connection: connection)
    (entry.content, entry.frames) = (content, frames)
    return entry
  }

  /// How many frames follow.
  @inline(__always)
  private mutating func frames() -> Int32? {
    if takeAtOnce(",\"frame\":\"") { return 1 }
    guard takeAtOnce(",\"count\":"), let count = wholeAtOnce(), count > 1, takeAtOnce(",\"frames\":\"") else {
      return nil
    }
    return Int32(exactly: count)
  }

  @inline(__always)
  private mutating func base64Prefix(into text: inout CaptureText) -> CaptureEntry.Piece {
    let input = rest
    let start = text.count
    var read = 0
    text.extend(atMost: Base64.decodedLimit(input.count) &+ Base64.slack) {
      read = Base64.decodePrefix(input, into: &$0)
    }
    position &+= read
    return text.piece(from: start)
  }
}

/// What stands in the lines of a capture, read into the memory of a batch.
extension JSONCursor {
  /// A string of base64, decoded to the end of `text`.
  @inline(__always)
  mutating func base64(into text: inout CaptureText) throws(JSONSurprise) -> CaptureEntry.Piece {
    skipBlanks()
    let start = position
    let digits = try string()
    let end = text.count
    var isRead = false
    text.extend(atMost: Base64.decodedLimit(digits.bytes.count) + Base64.slack) {
      isRead = !digits.isEscaped && Base64.decode(digits.bytes, into: &$0)
    }
    guard isRead else { throw unexpected("base64", at: start) }
    return text.piece(from: end)
  }

  /// A string that names a value.
  mutating func named<Value>(_ expected: String, _ value: (String) -> Value?) throws(JSONSurprise) -> Value {
    skipBlanks()
    let start = position
    guard let value = value(try string().text) else { throw unexpected(expected, at: start) }
    return value
  }

  /// The outcome of a push.
  mutating func outcome() throws(JSONSurprise) -> CapturedOutcome {
    var outcome = CapturedOutcome.silence
    try members { name, cursor throws(JSONSurprise) in
      switch name.text {
      case "status": outcome.status = Int(try cursor.whole(upTo: 999))
      case "reason": outcome.reason = try cursor.string().text
      case "identifier":
        outcome.identifier = UInt32(truncatingIfNeeded: try cursor.whole(upTo: Int64(UInt32.max)))
      case "closed": outcome.isClosed = try cursor.boolean()
      case "apnsId": outcome.apnsID = APNSID(try cursor.string().text)
      default: try cursor.skipUnknown()
      }
    }
    return outcome
  }

  // MARK: Requests

  /// A request, its pieces at the end of `text`.
  mutating func request(into text: inout CaptureText) throws(JSONSurprise) -> CaptureEntry {
    var method, path, fields, content: CaptureEntry.Piece?
    try members { name, cursor throws(JSONSurprise) in
      switch name.text {
      case "method": method = try cursor.text(into: &text)
      case "path": path = try cursor.text(into: &text)
      case "headers": fields = try cursor.headers(into: &text)
      case "body": content = try cursor.base64(into: &text)
      default: try cursor.skipUnknown()
      }
    }
    guard let method, let path, let fields, let content else {
      throw unexpected("a request with method, path, headers and body")
    }
    var entry = CaptureEntry(kind: .request, line: 0)
    (entry.method, entry.path, entry.fields, entry.content) = (method, path, fields, content)
    return entry
  }

  /// A string, without its escapes, at the end of `text`.
  private mutating func text(into text: inout CaptureText) throws(JSONSurprise) -> CaptureEntry.Piece {
    let string = try string()
    guard string.isEscaped else { return text.extend(string.bytes) }
    return string.text.withBytes { text.extend($0) }
  }

  /// A list of pairs, as a `FieldBlock` at the end of `text`.
  private mutating func headers(into text: inout CaptureText) throws(JSONSurprise) -> CaptureEntry.Piece {
    let start = text.count
    try elements { cursor throws(JSONSurprise) in
      let lengths = text.count
      text.extend(atMost: 4) { $0.append(repeating: 0, count: 4) }
      try cursor.expect(UInt8(ascii: "["))
      let name = try cursor.headerPart(into: &text)
      try cursor.expect(UInt8(ascii: ","))
      let value = try cursor.headerPart(into: &text)
      try cursor.expect(UInt8(ascii: "]"))
      guard let nameCount = UInt16(exactly: name.count), let valueCount = UInt16(exactly: value.count) else {
        throw cursor.unexpected("header fields of at most \(UInt16.max) bytes")
      }
      text.store(nameCount, at: lengths)
      text.store(valueCount, at: lengths + 2)
    }
    return text.piece(from: start)
  }

  /// A string, or null and base64 for bytes that are not UTF-8.
  private mutating func headerPart(into text: inout CaptureText) throws(JSONSurprise) -> CaptureEntry.Piece {
    guard take("null") else { return try self.text(into: &text) }
    try expect(UInt8(ascii: ","))
    return try base64(into: &text)
  }

  /// A value that this version has no use for.
  mutating func skipUnknown() throws(JSONSurprise) { try skipValue(depth: CaptureFormat.depthLimit) }
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
