/// Puts requests and answers into bytes.
public enum HTTPFraming {
  /// How the end of an answer is found.
  enum Framing: Equatable {
    case whole(keepsConnection: Bool)
    /// As `whole`, without the body: the answer to HEAD.
    case headOnly(keepsConnection: Bool)
    case chunked
    /// By the end of the connection; for HTTP/1.0.
    case untilEnd
  }

  /// A request; without a body it says nothing of a length.
  public static func request(
    _ method: String, _ target: String, _ fields: [HTTPField], body: [UInt8]? = nil
  ) -> [UInt8] {
    var text = "\(method) \(target) HTTP/1.1\r\n"
    for field in fields { text += "\(field.name): \(field.value)\r\n" }
    if let body { text += "Content-Length: \(body.count)\r\n" }
    return Array((text + "\r\n").utf8) + (body ?? [])
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

  /// The whole answer to CONNECT, in the words that clients look for.
  static let tunnelHead = Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8)

  /// A value that can't begin another line.
  private static func clean(_ value: String) -> String {
    guard !value.utf8.allSatisfy(ASCII.isFieldValue) else { return value }
    return String(decoding: value.utf8.map { ASCII.isFieldValue($0) ? $0 : ASCII.space }, as: UTF8.self)
  }
}

/// The reason phrase and the error code of each status that is answered here.
public enum HTTPStatus {
  static func phrase(_ status: Int) -> String { table[status]?.phrase ?? "Status" }

  /// The `code` of an error that the server itself answers (`Documentation/console-api.md`).
  public static func errorCode(_ status: Int) -> String { table[status]?.code ?? "error" }

  private static let table: [Int: (phrase: String, code: String)] = [
    100: ("Continue", ""), 200: ("OK", ""), 201: ("Created", ""), 202: ("Accepted", ""),
    204: ("No Content", ""), 303: ("See Other", ""), 304: ("Not Modified", ""),
    400: ("Bad Request", "badRequest"), 401: ("Unauthorized", "unauthorized"),
    403: ("Forbidden", "forbidden"), 404: ("Not Found", "notFound"),
    405: ("Method Not Allowed", "methodNotAllowed"),
    407: ("Proxy Authentication Required", "unauthorized"), 408: ("Request Timeout", "timeout"),
    409: ("Conflict", "conflict"), 410: ("Gone", "gone"), 413: ("Content Too Large", "bodyTooLarge"),
    415: ("Unsupported Media Type", "unsupportedMediaType"), 417: ("Expectation Failed", "expectationFailed"),
    421: ("Misdirected Request", "misdirected"), 422: ("Unprocessable Content", "unprocessable"),
    429: ("Too Many Requests", "tooManyRequests"),
    431: ("Request Header Fields Too Large", "headersTooLarge"),
    500: ("Internal Server Error", "internal"), 501: ("Not Implemented", "notImplemented"),
    502: ("Bad Gateway", "badGateway"), 503: ("Service Unavailable", "unavailable"),
    504: ("Gateway Timeout", "timeout"), 505: ("HTTP Version Not Supported", "httpVersion"),
  ]
}
