import PushModel
import Transport

/// A request that has found its route.
struct ConsoleRequest {
  let http: HTTPRequest
  /// The named parts of the path.
  let captures: [String: String]
  let now: Timestamp

  /// A named part of the path; the pattern guarantees it.
  func part(_ name: String) -> String { captures[name] ?? "" }

  /// The device that the path names.
  func udid() throws -> UDID {
    guard let udid = UDID(part("udid")) else {
      throw ConsoleError.bad("udid", expected: "1 to 64 of A-Z a-z 0-9 . _ -", got: part("udid"))
    }
    return udid
  }

  /// The topic that the path names.
  func topic() throws -> Topic {
    guard let topic = Topic(part("topic")) else {
      throw ConsoleError.bad("topic", expected: "a bundle id, as com.example.app", got: part("topic"))
    }
    return topic
  }

  /// The query, to be read name by name.
  func query() throws -> QueryReader { try QueryReader(http.query) }

  /// Deepest nesting of a body, as a count of levels. A payload of 5120 bytes could nest deeper, but nobody's does; it
  /// can be sent as Base64.
  static let bodyDepth = 64

  /// The body as a JSON object; an empty body is an empty object.
  func object(allowing names: [String]) throws -> JSONObject {
    guard !http.body.isEmpty else { return JSONObject(members: []) }
    let value = try json()
    guard case .object(let members) = value else {
      throw ConsoleError.bad("the body", expected: "a JSON object", got: value.text)
    }
    let object = JSONObject(members: members)
    try object.check(allowing: names, in: "the body")
    return object
  }

  private func json() throws -> JSONValue {
    if let value = JSONReader.read(http.body, maximumDepth: Self.bodyDepth) { return value }
    guard JSONText.compact(http.body) == nil else {
      throw ConsoleError.badRequest(
        "the body: expected at most \(Self.bodyDepth) levels of nesting, got more")
    }
    let start = String(decoding: http.body.prefix(200), as: UTF8.self)
    throw ConsoleError.bad("the body", expected: "a JSON object", got: start)
  }
}
