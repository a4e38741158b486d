/// The reason phrase and the error code of each status that is answered here.
enum HTTPStatus {
  static func phrase(_ status: Int) -> String { table[status]?.phrase ?? "Status" }

  /// The `code` of an error that the server itself answers (`Documentation/console-api.md`).
  static func errorCode(_ status: Int) -> String { table[status]?.code ?? "error" }

  private static let table: [Int: (phrase: String, code: String)] = [
    100: ("Continue", ""), 200: ("OK", ""), 201: ("Created", ""), 202: ("Accepted", ""),
    204: ("No Content", ""), 303: ("See Other", ""), 304: ("Not Modified", ""),
    400: ("Bad Request", "badRequest"), 401: ("Unauthorized", "unauthorized"),
    403: ("Forbidden", "forbidden"), 404: ("Not Found", "notFound"),
    405: ("Method Not Allowed", "methodNotAllowed"), 408: ("Request Timeout", "timeout"),
    409: ("Conflict", "conflict"), 410: ("Gone", "gone"), 413: ("Content Too Large", "bodyTooLarge"),
    415: ("Unsupported Media Type", "unsupportedMediaType"), 417: ("Expectation Failed", "expectationFailed"),
    421: ("Misdirected Request", "misdirected"), 422: ("Unprocessable Content", "unprocessable"),
    429: ("Too Many Requests", "tooManyRequests"),
    431: ("Request Header Fields Too Large", "headersTooLarge"),
    500: ("Internal Server Error", "internal"), 501: ("Not Implemented", "notImplemented"),
    503: ("Service Unavailable", "unavailable"), 505: ("HTTP Version Not Supported", "httpVersion"),
  ]
}
