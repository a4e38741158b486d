import Basics

/// The headers of a message: `NATS/1.0`, for an answer of the server's own a status with words, then fields whose names keep
/// their case.
package struct NATSHeaders: Equatable, Sendable, ExpressibleByDictionaryLiteral {
  private static let version = "NATS/1.0"

  /// Such as 503, no responders; nil in messages of clients.
  package var status: Int?
  /// What the server says beside the status.
  package var words: String?
  package var fields: [Field]

  package struct Field: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
  }

  package init(_ fields: [Field] = []) { self.fields = fields }

  package init(dictionaryLiteral fields: (String, String)...) { self.init(fields.map(Field.init)) }

  /// The first value of a field.
  package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }

  /// Reads them, with the empty line behind them.
  package init(_ bytes: Slice<UnsafeRawBufferPointer>) throws(NATSFailure) {
    var rest = bytes[...]
    guard var first = Self.line(&rest), first.count >= Self.version.utf8.count,
      first.prefix(Self.version.utf8.count).elementsEqual(Self.version.utf8)
    else { throw .malformed("headers that do not begin with \(Self.version)") }
    first = first.dropFirst(Self.version.utf8.count)
    fields = []
    try readStatus(String(decoding: first, as: UTF8.self))
    while let line = Self.line(&rest) {
      guard !line.isEmpty else {
        guard rest.isEmpty else { throw .malformed("headers behind their end") }
        return
      }
      guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex else {
        throw .malformed("a header without a name")
      }
      let value = line[(colon + 1)...].drop { $0 == UInt8(ascii: " ") }
      fields.append(
        Field(String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self)))
    }
    throw .malformed("headers that do not end with an empty line")
  }

  private mutating func readStatus(_ text: String) throws(NATSFailure) {
    let said = text.split(separator: " ", maxSplits: 1)
    guard let status = said.first else { return }
    guard let number = Int(status) else { throw .malformed("the status \(status.prefix(20)) in headers") }
    self.status = number
    words = said.count > 1 ? String(said[1]) : nil
  }

  /// The next line without its end; nil if there is none.
  private static func line(_ rest: inout Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer>? {
    guard let end = rest.firstIndex(of: UInt8(ascii: "\n")), end > rest.startIndex,
      rest[end - 1] == UInt8(ascii: "\r")
    else { return nil }
    defer { rest = rest[(end + 1)...] }
    return rest[..<(end - 1)]
  }

  /// Bytes as they are sent, as a count.
  package var encodedCount: Int {
    // Without their text, for who only asks whether a message is too large.
    let head = status == nil && words == nil ? Self.version.utf8.count : encodedHead.utf8.count
    return fields.reduce(head + 4) { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }
  }

  private var encodedHead: String {
    var text = Self.version
    if let status { text += " \(status)" }
    if let words { text += " " + words }
    return text
  }

  /// As they are sent.
  package var encoded: [UInt8] {
    var text = encodedHead + "\r\n"
    for field in fields { text += field.name + ": " + field.value + "\r\n" }
    return Array((text + "\r\n").utf8)
  }
}
