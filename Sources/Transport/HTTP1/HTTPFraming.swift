/// Puts answers into bytes.
enum HTTPFraming {
  /// How the end of an answer is found.
  enum Framing: Equatable {
    case whole(keepsConnection: Bool)
    /// As `whole`, without the body: the answer to HEAD.
    case headOnly(keepsConnection: Bool)
    case chunked
    /// By the end of the connection; for HTTP/1.0.
    case untilEnd
  }

  /// Status line and fields of an answer, and its body where the framing includes it.
  static func head(_ response: HTTPResponse, _ framing: Framing) -> [UInt8] {
    var text = "HTTP/1.1 \(response.status) \(HTTPStatus.phrase(response.status))\r\n"
    for field in response.fields { text += "\(field.name): \(clean(field.value))\r\n" }
    var body: [UInt8] = []
    switch framing {
    case .whole(let keeps), .headOnly(let keeps):
      if !response.hasNoBody { text += "Content-Length: \(response.body.count)\r\n" }
      text += keeps ? "" : "Connection: close\r\n"
      if case .whole = framing, !response.hasNoBody { body = response.body }
    case .chunked: text += "Transfer-Encoding: chunked\r\n"
    case .untilEnd: text += "Connection: close\r\n"
    }
    return Array((text + "\r\n").utf8) + body
  }

  /// One piece of a chunked answer.
  static func chunk(_ bytes: [UInt8]) -> [UInt8] {
    Array(String(bytes.count, radix: 16).utf8) + [0x0d, 0x0a] + bytes + [0x0d, 0x0a]
  }

  static let lastChunk = Array("0\r\n\r\n".utf8)

  /// A value that can't begin another line.
  private static func clean(_ value: String) -> String {
    guard !value.utf8.allSatisfy(ASCII.isFieldValue) else { return value }
    return String(decoding: value.utf8.map { ASCII.isFieldValue($0) ? $0 : ASCII.space }, as: UTF8.self)
  }
}
