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
