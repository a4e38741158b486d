import Basics

/// Takes apart what a NATS server says to its clients (docs.nats.io, "Client Protocol"), in any segmentation: bytes in, events
/// out, no I/O.
///
///     decoder.receive(bytes)
///     while let event = try decoder.next() { … }
///
/// After a failure nothing more is decoded: where the next line begins is no longer known.
public struct NATSDecoder: ~Copyable {
  private enum State {
    case line
    /// The line of a message has come, and its bytes have not: so many, headers among them.
    case payload(NATSMessage, headers: Int, count: Int)
    case failed(NATSFailure)
  }

  /// Longest line, in bytes. A server's INFO names every other server of its cluster.
  public static let lineLimit = 1 << 16
  private static let lineFeed = UInt8(ascii: "\n")
  private static let carriageReturn = UInt8(ascii: "\r")

  /// Largest message that is taken, in bytes with its headers.
  private let payloadLimit: Int
  private var state = State.line
  private var buffer: [UInt8] = []
  /// What lies before has been decoded.
  private var start = 0
  /// How far the search for the end of a line has come.
  private var searched = 0

  public init(payloadLimit: Int) { self.payloadLimit = payloadLimit }

  /// Bytes of memory held.
  public var heldBytes: Int { buffer.capacity }

  public mutating func receive(_ bytes: Span<UInt8>) {
    if start > 0 {
      buffer.removeFirst(start)
      (searched, start) = (searched - start, 0)
    }
    buffer.append(bytes)
  }

  /// The next event; nil when more bytes are needed.
  public mutating func next() throws(NATSFailure) -> NATSEvent? {
    while true {
      switch state {
      case .failed(let failure): throw failure
      case .payload(let message, let headers, let count): return try payload(of: message, headers, count)
      case .line:
        guard let line = try line() else { return nil }
        do {
          if let event = try event(of: line) { return event }
        } catch { throw fail(error) }
      }
    }
  }

  private mutating func fail(_ failure: NATSFailure) -> NATSFailure {
    state = .failed(failure)
    buffer = []
    (start, searched) = (0, 0)
    return failure
  }

  // MARK: Lines

  /// The next line without its end.
  private mutating func line() throws(NATSFailure) -> [UInt8]? {
    let end = buffer.span.place(of: Self.lineFeed, from: searched)
    guard end < buffer.count else {
      searched = end
      guard buffer.count - start <= Self.lineLimit else { throw fail(.lineTooLong(Self.lineLimit)) }
      return nil
    }
    let isWhole = end > start && buffer[end - 1] == Self.carriageReturn
    guard isWhole, end - start < Self.lineLimit else {
      throw fail(isWhole ? .lineTooLong(Self.lineLimit) : .malformed("a line that does not end with CR LF"))
    }
    let line = Array(buffer[start..<end - 1])
    (start, searched) = (end + 1, end + 1)
    return line
  }

  /// What a line says; nil for the line of a message, whose bytes follow.
  private mutating func event(of line: [UInt8]) throws(NATSFailure) -> NATSEvent? {
    let (word, rest) = Self.split(line)
    switch word {
    case "MSG": state = try delivery(rest, hasHeaders: false)
    case "HMSG": state = try delivery(rest, hasHeaders: true)
    case "INFO": return .info(try NATSServerInfo(json: Array(rest)))
    case "PING": return .ping
    case "PONG": return .pong
    case "+OK": return .ok
    case "-ERR": return .error(Self.unquoted(rest))
    default: throw .malformed("the operation \(word.prefix(20))")
    }
    return nil
  }

  /// The operation, whose case does not matter, and what stands behind it.
  private static func split(_ line: [UInt8]) -> (String, ArraySlice<UInt8>) {
    let end = line.firstIndex(where: isBlank) ?? line.endIndex
    let rest = line[end...].drop(while: isBlank)
    let word = String(decoding: line[..<end], as: UTF8.self)
    // Servers say it in capitals.
    let isUpper = line[..<end].allSatisfy { $0 < UInt8(ascii: "a") }
    return (isUpper ? word : word.uppercased(), rest)
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private static func unquoted(_ text: ArraySlice<UInt8>) -> String {
    let text = String(decoding: text, as: UTF8.self)
    guard text.count >= 2, text.hasPrefix("'"), text.hasSuffix("'") else { return text }
    return String(text.dropFirst().dropLast())
  }

  // MARK: Messages

  /// `MSG subject sid [reply] count`, `HMSG subject sid [reply] headers count`.
  private func delivery(_ rest: ArraySlice<UInt8>, hasHeaders: Bool) throws(NATSFailure) -> State {
    let words = rest.split(whereSeparator: Self.isBlank)
    let numbers = hasHeaders ? 2 : 1
    guard words.count == numbers + 2 || words.count == numbers + 3,
      let subscription: UInt64 = Self.number(words[1]),
      let count: Int = Self.number(words[words.count - 1]), count >= 0,
      let headerCount = hasHeaders ? Self.number(words[words.count - 2]) : 0,
      (0...count).contains(headerCount)
    else { throw .malformed("the line of a message") }
    guard count <= payloadLimit else { throw .messageTooLarge(count, limit: payloadLimit) }
    let message = NATSMessage(
      subject: String(decoding: words[0], as: UTF8.self), subscription: subscription,
      reply: words.count == numbers + 3 ? String(decoding: words[2], as: UTF8.self) : nil)
    return .payload(message, headers: headerCount, count: count)
  }

  private static func number<Number: FixedWidthInteger>(_ digits: ArraySlice<UInt8>) -> Number? {
    Number(String(decoding: digits, as: UTF8.self))
  }

  private mutating func payload(
    of announced: NATSMessage, _ headerCount: Int, _ count: Int
  ) throws(NATSFailure) -> NATSEvent? {
    guard buffer.count - start >= count + 2 else { return nil }
    let end = start + count
    guard buffer[end] == Self.carriageReturn, buffer[end + 1] == Self.lineFeed else {
      throw fail(.malformed("a message of another length than its line says"))
    }
    var message = announced
    do {
      message.headers =
        headerCount > 0 ? try NATSHeaders(buffer.span.extracting(start..<start + headerCount)) : nil
    } catch { throw fail(error) }
    message.payload = Array(buffer[start + headerCount..<end])
    (start, searched) = (end + 2, end + 2)
    state = .line
    return .message(message)
  }
}

/// What a server says.
public enum NATSEvent: Equatable, Sendable {
  case info(NATSServerInfo)
  case message(NATSMessage)
  case ping
  case pong
  case ok
  /// In the server's words, such as `Authorization Violation`.
  case error(String)
}

/// A message for one of the client's subscriptions.
public struct NATSMessage: Equatable, Sendable {
  public var subject: String
  /// The client's own number of the subscription.
  public var subscription: UInt64
  /// Where an answer is expected.
  public var reply: String?
  public var headers: NATSHeaders?
  public var payload: [UInt8]

  public init(
    subject: String, subscription: UInt64, reply: String? = nil, headers: NATSHeaders? = nil,
    payload: [UInt8] = []
  ) {
    (self.subject, self.subscription, self.reply) = (subject, subscription, reply)
    (self.headers, self.payload) = (headers, payload)
  }
}

/// Why what a server says can't be taken.
public enum NATSFailure: Error, Equatable, Sendable, CustomStringConvertible {
  case malformed(String)
  case lineTooLong(Int)
  case messageTooLarge(Int, limit: Int)

  public var description: String {
    switch self {
    case .malformed(let what): "expected the protocol of a NATS server, got \(what)"
    case .lineTooLong(let limit):
      "expected a line of at most \(limit) bytes from the NATS server, got a longer one"
    case .messageTooLarge(let count, let limit):
      "expected a message of at most \(limit) bytes from the NATS server, got one of \(count)"
    }
  }
}

/// The headers of a message: `NATS/1.0`, for an answer of the server's own a status with words, then fields whose names keep
/// their case.
public struct NATSHeaders: Equatable, Sendable, ExpressibleByDictionaryLiteral {
  private static let version: StaticString = "NATS/1.0"

  /// Such as 503, no responders; nil in messages of clients.
  public var status: Int?
  /// What the server says beside the status.
  public var words: String?
  public var fields: [Field]

  public struct Field: Equatable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  public init(_ fields: [Field] = []) { self.fields = fields }

  public init(dictionaryLiteral fields: (String, String)...) { self.init(fields.map(Field.init)) }

  /// The first value of a field.
  public subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Reads them, with the empty line behind them.
  public init(_ bytes: Span<UInt8>) throws(NATSFailure) {
    var rest = bytes
    guard let first = Self.line(&rest), first.begins(with: Self.version) else {
      throw .malformed("headers that do not begin with \(Self.version)")
    }
    fields = []
    try readStatus(first.dropping(Self.version.utf8CodeUnitCount).text)
    while let line = Self.line(&rest) {
      guard !line.isEmpty else {
        guard rest.isEmpty else { throw .malformed("headers after their end") }
        return
      }
      fields.append(try Self.field(line))
    }
    throw .malformed("headers that do not end with an empty line")
  }

  private static func field(_ line: Span<UInt8>) throws(NATSFailure) -> Field {
    let colon = line.place(of: UInt8(ascii: ":"))
    guard colon > 0, colon < line.count else { throw .malformed("a header without a name") }
    var value = line.dropping(colon + 1)
    while value.first == UInt8(ascii: " ") { value = value.dropping(1) }
    return Field(line.prefix(colon).text, value.text)
  }

  private mutating func readStatus(_ text: String) throws(NATSFailure) {
    let said = text.split(separator: " ", maxSplits: 1)
    guard let status = said.first else { return }
    guard let number = Int(status) else { throw .malformed("the status \(status.prefix(20)) in headers") }
    self.status = number
    words = said.count > 1 ? String(said[1]) : nil
  }

  /// The next line without its end; nil if there is none.
  @_lifetime(copy rest)
  private static func line(_ rest: inout Span<UInt8>) -> Span<UInt8>? {
    let end = rest.place(of: UInt8(ascii: "\n"))
    guard end > 0, end < rest.count, rest[end - 1] == UInt8(ascii: "\r") else { return nil }
    let line = rest.prefix(end - 1)
    rest = rest.dropping(end + 1)
    return line
  }

  /// Bytes as they are sent, as a count.
  public var encodedCount: Int {
    // Without their text, for who only asks whether a message is too large.
    let head = status == nil && words == nil ? Self.version.utf8CodeUnitCount : encodedHead.utf8.count
    return fields.reduce(head + 4) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
  }

  private var encodedHead: String {
    var text = "\(Self.version)"
    if let status { text += " \(status)" }
    if let words { text += " " + words }
    return text
  }

  /// As they are sent.
  public var encoded: [UInt8] {
    var text = encodedHead + "\r\n"
    for field in fields { text += field.name + ": " + field.value + "\r\n" }
    return Array((text + "\r\n").utf8)
  }
}
