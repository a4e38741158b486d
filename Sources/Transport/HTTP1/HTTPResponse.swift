import Basics

/// One answer, whole. The server adds what frames it: Content-Length and Connection.
public struct HTTPResponse: Sendable {
  public var status: Int
  public var fields: [HTTPField]
  public var body: [UInt8]
  /// The connection ends after this answer.
  public var endsConnection = false
  /// Promises nothing of what is not committed yet, and so need not wait for that (`EventLoop.holdOutput`): it says how this process is.
  public var claimsNothing = false

  public init(status: Int, fields: [HTTPField] = [], body: [UInt8] = []) {
    (self.status, self.fields, self.body) = (status, fields, body)
  }

  /// A JSON document.
  public init(status: Int = 200, json: JSONValue, fields: [HTTPField] = []) {
    self.init(
      status: status, fields: [HTTPField("Content-Type", "application/json")] + fields, body: json.encoded)
  }

  /// An error in the shape of `Documentation/console-api.md`.
  public init(status: Int, error code: String, _ message: String, fields: [HTTPField] = []) {
    self.init(status: status, json: Self.error.write((code, message)), fields: fields)
  }

  public static let error = JSONShape<(code: String, message: String)>([
    "error": .show(as: ["code": .show { $0.code }, "message": .show { $0.message }]) { $0 }
  ]).named("Error")

  /// Plain text.
  public init(status: Int = 200, text: String) {
    self.init(
      status: status, fields: [HTTPField("Content-Type", "text/plain; charset=utf-8")], body: Array(text.utf8)
    )
  }

  /// The same, which promises nothing of what is not committed yet.
  public var claimingNothing: HTTPResponse {
    var response = self
    response.claimsNothing = true
    return response
  }

  /// The value of the first field of this name, compared without case.
  public func field(_ name: String) -> String? { fields.first(named: name) }

  /// Whether this status never has a body (RFC 9110 6.4.1).
  var hasNoBody: Bool { status < 200 || status == 204 || status == 304 }
}
