import PushModel

/// The headers of a message: `NATS/1.0`, for an answer of the server's own a status with words, then fields whose names keep
/// their case.
public struct NATSHeaders: Equatable, Sendable, ExpressibleByDictionaryLiteral {
  private static let version = "NATS/1.0"

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
  init(_ bytes: Slice<UnsafeRawBufferPointer>) throws(NATSFailure) {
    let text = String(decoding: bytes, as: UTF8.self)
    var lines = text.components(separatedBy: "\r\n")[...]
    guard lines.count >= 3, lines.popLast() == "", lines.popLast() == "", let first = lines.popFirst(),
      first.hasPrefix(Self.version)
    else { throw .malformed("headers that do not begin with \(Self.version) and end with an empty line") }
    let said = first.dropFirst(Self.version.count).split(separator: " ", maxSplits: 1)
    if let status = said.first {
      guard let number = Int(status) else { throw .malformed("the status \(status.prefix(20)) in headers") }
      self.status = number
      words = said.count > 1 ? String(said[1]) : nil
    }
    fields = []
    for line in lines {
      guard let colon = line.firstIndex(of: ":"), colon != line.startIndex else {
        throw .malformed("a header without a name")
      }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields.append(Field(String(line[..<colon]), String(value)))
    }
  }

  /// As they are sent.
  public var encoded: [UInt8] {
    var text = Self.version
    if let status { text += " \(status)" }
    if let words { text += " " + words }
    text += "\r\n"
    for field in fields { text += field.name + ": " + field.value + "\r\n" }
    return Array((text + "\r\n").utf8)
  }
}

extension String {
  /// The parts between separators; none is left out.
  fileprivate func components(separatedBy separator: String) -> [Substring] {
    var parts: [Substring] = []
    var rest = self.utf8[...]
    let pattern = Array(separator.utf8)
    var start = rest.startIndex
    while let place = rest.indices.first(where: { rest[$0...].starts(with: pattern) }) {
      parts.append(Substring(rest[start..<place]))
      start = rest.index(place, offsetBy: pattern.count)
      rest = rest[start...]
    }
    parts.append(Substring(rest[start...]))
    return parts
  }
}
