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
package struct HTTPField: Equatable, Sendable {
  package var name: String
  package var value: String

  package init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
}

extension [HTTPField] {
  /// The value of the first field of this name, which is compared without case; nil if there is none.
  package func first(named name: String) -> String? { first { $0.isNamed(name) }?.value }

  /// The values of all fields of this name, in order.
  package func all(named name: String) -> [String] { filter { $0.isNamed(name) }.map(\.value) }
}

extension HTTPField {
  func isNamed(_ other: String) -> Bool {
    name.utf8.count == other.utf8.count
      && zip(name.utf8, other.utf8).allSatisfy { ASCII.lowercased($0) == ASCII.lowercased($1) }
  }
}
