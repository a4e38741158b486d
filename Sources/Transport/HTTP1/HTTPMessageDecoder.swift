import Basics

/// Takes a stream of HTTP/1.1 messages apart: bytes in, events out, no I/O.
///
///     head ─→ (the owner says how long the body is) ─→ fixed ──────────────────────────→ head …
///                                                  ├─→ chunk size ⇄ chunk data ─→ trailer ─→ head …
///                                                  └─→ until the end of the connection
///
/// After a failure nothing more is decoded: where the next message begins is no longer known.
struct HTTPMessageDecoder: ~Copyable {
  enum Event: Equatable {
    case head(HTTPHead)
    /// A piece of the body.
    case body([UInt8])
    /// The message is whole.
    case end
  }

  private enum State {
    case head
    case awaitingLength
    case fixed(remaining: Int)
    case untilEnd
    case chunkSize
    case chunkData(remaining: Int)
    case chunkEnd
    case trailer(fields: Int)
    case failed(HTTPParseFailure)
  }

  /// Longest line that may tell a chunk's size, with extensions, in bytes.
  static let chunkLineLimit = 1024

  private let limits: HTTPLimits
  private var state = State.head
  /// Largest memory that is kept when all of it has been decoded, in bytes.
  private static let keptCapacity = 1 << 16
  /// What has been decoded is forgotten when it is more than this, in bytes, and more than the rest.
  private static let decodedLimit = 1 << 16

  private var buffer: [UInt8] = []
  /// What lies before has been decoded.
  private var start = 0
  /// How far the search for the end of a line or head has come.
  private var searched = 0
  private var bodyCount = 0
  /// Of the body that is being decoded, in bytes.
  private var bodyLimit: Int

  init(limits: HTTPLimits) { (self.limits, bodyLimit) = (limits, limits.body) }

  /// Bytes that wait to be decoded.
  var waiting: Int { buffer.count - start }
  /// Bytes held for them.
  var heldBytes: Int { buffer.capacity }
  /// Whether a message has begun and is not whole.
  var isInside: Bool {
    if case .head = state { return waiting > 0 }
    return true
  }
  /// Whether the body lasts until the peer ends the connection.
  var lastsUntilEnd: Bool {
    if case .untilEnd = state { return true }
    return false
  }

  mutating func receive(_ bytes: Span<UInt8>) {
    if start == buffer.count {
      buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
      (start, searched) = (0, 0)
    }
    buffer.append(bytes)
  }

  /// Says how long the body is whose head has just been told, and how long it may be, in bytes; nil for as long as any.
  mutating func expectBody(_ length: HTTPBodyLength, limit: Int? = nil) throws(HTTPParseFailure) {
    bodyLimit = limit ?? limits.body
    switch length {
    case .fixed(let count) where count > bodyLimit: throw fail(tooLarge(count))
    case .fixed(let count): state = .fixed(remaining: count)
    case .chunked: state = .chunkSize
    case .unsaid: state = .untilEnd
    }
    bodyCount = 0
  }

  /// The next event; nil when more bytes are needed.
  mutating func next() throws(HTTPParseFailure) -> Event? {
    while true {
      switch state {
      case .head:
        guard let head = try decodeHead() else { return nil }
        state = .awaitingLength
        return .head(head)
      case .awaitingLength: return nil
      case .fixed(remaining: 0): return finish()
      case .fixed(let remaining): return try take(remaining) { .fixed(remaining: $0) }
      case .untilEnd: return try take(.max) { _ in .untilEnd }
      case .chunkSize:
        guard let line = try decodeLine(Self.chunkLineLimit) else { return nil }
        let size = try chunkSize(line)
        state = size == 0 ? .trailer(fields: 0) : .chunkData(remaining: size)
      case .chunkData(remaining: 0): state = .chunkEnd
      case .chunkData(let remaining): return try take(remaining) { .chunkData(remaining: $0) }
      case .chunkEnd: guard try passChunkEnd() else { return nil }
      case .trailer(let fields):
        guard let line = try decodeLine(limits.head) else { return nil }
        if line.isEmpty { return finish() }
        guard fields < limits.fields else { throw fail(HTTPParseFailure(431, "too many trailer fields")) }
        state = .trailer(fields: fields + 1)
      case .failed(let failure): throw failure
      }
    }
  }

  /// Answers whether the line behind a chunk has come.
  private mutating func passChunkEnd() throws(HTTPParseFailure) -> Bool {
    guard let line = try decodeLine(2) else { return false }
    guard line.isEmpty else { throw fail(HTTPParseFailure(400, "a chunk has another length than it says")) }
    state = .chunkSize
    return true
  }

  private mutating func finish() -> Event {
    state = .head
    return .end
  }

  private func tooLarge(_ count: Int, orMore: Bool = false) -> HTTPParseFailure {
    HTTPParseFailure(
      413, "the body: expected at most \(bodyLimit) bytes, got \(count)\(orMore ? " or more" : "")")
  }

  private mutating func fail(_ failure: HTTPParseFailure) -> HTTPParseFailure {
    state = .failed(failure)
    return failure
  }

  // MARK: Pieces

  private mutating func take(
    _ most: Int, _ rest: (Int) -> State
  ) throws(HTTPParseFailure) -> Event? {
    let count = min(most, waiting)
    guard count > 0 else { return nil }
    bodyCount += count
    guard bodyCount <= bodyLimit else { throw fail(tooLarge(bodyCount, orMore: true)) }
    let piece = Array(buffer[start..<start + count])
    consume(count)
    state = rest(most - count)
    return .body(piece)
  }

  private mutating func consume(_ count: Int) {
    start += count
    searched = start
    // Keeps what is moved small against what was read.
    if start > Self.decodedLimit, start * 2 > buffer.count {
      buffer.removeFirst(start)
      (start, searched) = (0, 0)
    }
  }

  /// The bytes of a head up to its empty line; empty lines before it are skipped (RFC 9112 2.2).
  private mutating func decodeHead() throws(HTTPParseFailure) -> HTTPHead? {
    while waiting > 0, buffer[start] == ASCII.carriageReturn || buffer[start] == ASCII.lineFeed {
      consume(1)
    }
    guard let end = endOfHead() else {
      guard waiting <= limits.head else { throw fail(headTooLarge) }
      return nil
    }
    guard end - start <= limits.head else { throw fail(headTooLarge) }
    do {
      let head = try HTTPHead(Array(buffer[start..<end])[...], limits: limits)
      consume(end - start)
      return head
    } catch { throw fail(error) }
  }

  private var headTooLarge: HTTPParseFailure {
    HTTPParseFailure(431, "the request line and headers are larger than \(limits.head) bytes")
  }

  /// Where the empty line ends; it may lack its CR, which `HTTPHead` refuses.
  private mutating func endOfHead() -> Int? {
    while case let lineEnd = buffer.span.place(of: ASCII.lineFeed, from: searched), lineEnd < buffer.count {
      let next = lineEnd + 1
      guard next < buffer.count else { return nil }
      if buffer[next] == ASCII.lineFeed { return next + 1 }
      if buffer[next] == ASCII.carriageReturn {
        guard next + 1 < buffer.count else { return nil }
        if buffer[next + 1] == ASCII.lineFeed { return next + 2 }
      }
      searched = next
    }
    searched = buffer.count
    return nil
  }

  /// One line without its CR LF.
  private mutating func decodeLine(_ limit: Int) throws(HTTPParseFailure) -> [UInt8]? {
    let end = buffer.span.place(of: ASCII.lineFeed, from: searched)
    guard end < buffer.count else {
      searched = end
      guard waiting <= limit else {
        throw fail(HTTPParseFailure(400, "a line of a chunked body is too long"))
      }
      return nil
    }
    guard end + 1 - start <= limit, end > start, buffer[end - 1] == ASCII.carriageReturn else {
      throw fail(HTTPParseFailure(400, "a line of a chunked body is too long or does not end with CR LF"))
    }
    let line = Array(buffer[start..<end - 1])
    consume(end + 1 - start)
    return line
  }

  private mutating func chunkSize(_ line: [UInt8]) throws(HTTPParseFailure) -> Int {
    let digits = ASCII.trimmed(line.prefix { $0 != UInt8(ascii: ";") })
    guard let size = ASCII.hexadecimal(digits) else {
      throw fail(HTTPParseFailure(400, "a chunk's size is not a hexadecimal number"))
    }
    guard size <= bodyLimit - bodyCount else {
      throw fail(
        tooLarge(size.addingReportingOverflow(bodyCount).overflow ? size : size + bodyCount, orMore: true))
    }
    return size
  }
}

/// Why a peer's message can't be taken: the status to answer and a sentence for it.
public struct HTTPParseFailure: Error, Equatable, CustomStringConvertible, Sendable {
  public var status: Int
  public var sentence: String

  init(_ status: Int, _ sentence: String) { (self.status, self.sentence) = (status, sentence) }

  public var description: String { sentence }

  public static func == (left: HTTPParseFailure, right: HTTPParseFailure) -> Bool {
    left.status == right.status
  }
}

/// How the length of a message's body is known (RFC 9112 6.3).
enum HTTPBodyLength: Equatable {
  case fixed(Int)
  case chunked
  /// Neither is said: for a request no body, for an answer everything until the end of the connection.
  case unsaid

  /// Reads the framing fields. Both framings at once, or two lengths that differ, are how requests are smuggled past
  /// a proxy, so they are errors.
  init(_ fields: [HTTPField]) throws(HTTPParseFailure) {
    let lengths = Set(fields.all(named: "content-length"))
    let codings = fields.all(named: "transfer-encoding")
    guard codings.isEmpty || lengths.isEmpty else {
      throw HTTPParseFailure(400, "both Content-Length and Transfer-Encoding are given")
    }
    if let coding = codings.first {
      guard codings.count == 1, coding.lowercased() == "chunked" else {
        throw HTTPParseFailure(501, "the only transfer coding known here is chunked")
      }
      self = .chunked
    } else if let text = lengths.first {
      guard lengths.count == 1, let length = ASCII.decimal(Array(text.utf8)) else {
        throw HTTPParseFailure(400, "Content-Length is not one decimal number")
      }
      self = .fixed(length)
    } else {
      self = .unsaid
    }
  }
}

/// First line and header fields of a message, as text.
struct HTTPHead: Equatable {
  var startLine: String
  var fields: [HTTPField]

  /// Reads a head up to its empty line. Lines end with CR LF; a folded line, a space before the colon and
  /// control characters are errors (RFC 9112 5.1, 5.2).
  init(_ bytes: ArraySlice<UInt8>, limits: HTTPLimits) throws(HTTPParseFailure) {
    // Behind the last line end there is nothing.
    let lines = bytes.split(separator: ASCII.lineFeed, omittingEmptySubsequences: false).dropLast()
    guard lines.allSatisfy({ $0.last == ASCII.carriageReturn }) else {
      throw HTTPParseFailure(400, "a header line does not end with CR LF")
    }
    guard let first = lines.first?.dropLast(), first.allSatisfy(ASCII.isFieldValue) else {
      throw HTTPParseFailure(400, "the first line is empty or has control characters")
    }
    startLine = String(decoding: first, as: UTF8.self)
    fields = []
    for line in lines.dropFirst().dropLast() {
      guard fields.count < limits.fields else {
        throw HTTPParseFailure(431, "there are more than \(limits.fields) header fields")
      }
      fields.append(try Self.field(line.dropLast()))
    }
  }

  private static func field(_ line: ArraySlice<UInt8>) throws(HTTPParseFailure) -> HTTPField {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[..<colon].allSatisfy(ASCII.isToken)
    else { throw HTTPParseFailure(400, "a header line is not \"name: value\"") }
    let value = ASCII.trimmed(line[(colon + 1)...])
    guard value.allSatisfy(ASCII.isFieldValue) else {
      throw HTTPParseFailure(400, "a header value has control characters")
    }
    return HTTPField(
      String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
  }
}

/// One header field.
public struct HTTPField: Equatable, Sendable {
  public var name: String
  public var value: String

  public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

extension [HTTPField] {
  /// The value of the first field of this name, which is compared without case; nil if there is none.
  public func first(named name: String) -> String? { first { $0.isNamed(name) }?.value }

  /// The values of all fields of this name, in order.
  public func all(named name: String) -> [String] { filter { $0.isNamed(name) }.map(\.value) }
}

extension HTTPField {
  func isNamed(_ other: String) -> Bool {
    name.utf8.count == other.utf8.count
      && zip(name.utf8, other.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }
}
