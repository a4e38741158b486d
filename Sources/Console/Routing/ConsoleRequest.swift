import PushModel
import Transport

/// A request that has found its route.
struct ConsoleRequest {
  let http: HTTPRequest
  /// The named parts of the path.
  let captures: [String: String]
  let now: Timestamp
  /// How much of a body its route takes.
  var bodyLimit = BodyLimit.usual

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

  /// The body as a JSON object with no other members than these; an empty body is an empty object.
  func object(allowing names: [String]) throws -> JSONObject {
    let object = try object()
    try object.check(allowing: names)
    return object
  }

  /// The same for a form, which checks the members.
  func object() throws -> JSONObject { try bodyLimit.read(http.body) }
}
