import Basics
import ConsoleAnswers
import PushModel
import Transport

/// A request that has found its route.
package struct ConsoleRequest {
  package let http: HTTPRequest
  /// The named parts of the path.
  package let captures: [String: String]
  package let now: Timestamp
  /// How much of a body its route takes.
  package let bodyLimit: BodyLimit

  package init(http: HTTPRequest, captures: [String: String], now: Timestamp, bodyLimit: BodyLimit = .usual) {
    (self.http, self.captures, self.now, self.bodyLimit) = (http, captures, now, bodyLimit)
  }

  /// A named part of the path; the pattern guarantees it.
  package func part(_ name: String) -> String { captures[name] ?? "" }

  /// The device that the path names.
  package func udid() throws -> UDID {
    try JSONKind.udid.read(.string(part("udid")), "udid")
  }

  /// The topic that the path names.
  package func topic() throws -> Topic {
    try JSONKind.topic.read(.string(part("topic")), "topic")
  }

  /// Reads the query name by name: nothing else may be in it.
  package func query<Asked>(_ read: (inout QueryReader) throws -> Asked) throws -> Asked {
    var query = try QueryReader(http.query)
    let asked = try read(&query)
    try query.finish()
    return asked
  }

  /// The body as a JSON object with no other members than these; an empty body is an empty object.
  package func object(allowing names: [String]) throws -> JSONObject {
    let object = try object()
    try object.check(allowing: names)
    return object
  }

  /// The same for a form, which checks the members.
  package func object() throws -> JSONObject { try bodyLimit.read(http.body) }
}

/// How much of a body a route takes. Most of the API says some hundred bytes; a route that needs more says so in the table of routes.
package struct BodyLimit: Equatable, Sendable {
  /// In bytes: looked at before the body is read, and while it comes where its length is not said (`HTTPServer`).
  package var bytes: Int
  /// Values of JSON, those in others included, as a count: looked at before any is made. Each takes some 50 bytes of memory besides
  /// its text, and a text of two bytes may be a value.
  package var values: Int

  /// Of a route that does not say. An order to a phone, the longest of what people say, may have 60 KiB.
  package static let usual = BodyLimit(bytes: 64 << 10, values: 10_000)
  /// For a payload of 64 KiB, the largest that there is with `--payload-limit`, in Base64 or with as many escapes, and files of a
  /// certificate and its key beside it; for the ids of all that may be on its way to a device stream.
  package static let large = BodyLimit(bytes: 256 << 10, values: 100_000)
  /// A saved state: as large as a file that is read whole. What `export` writes has more than 16 bytes for each of its values.
  package static let state = BodyLimit(bytes: 16 << 20, values: 1_000_000)

  /// Reads a body as a JSON object; an empty one is an empty object.
  package func read(_ body: [UInt8]) throws -> JSONObject {
    guard !body.isEmpty else { return JSONObject() }
    try checkValues(body)
    return try JSONObject(body: body)
  }

  private func checkValues(_ body: [UInt8]) throws {
    // Between two values is at least one byte.
    guard body.count / 2 >= values else { return }
    let count = JSONReader.valueCount(of: body, maximumDepth: JSONObject.bodyDepth)
    guard count <= values else {
      throw ConsoleError.tooMuch("the body: expected at most \(values) JSON values, got \(count)")
    }
  }
}

/// Reads named values one by one, and says which of them nobody asked for: a misspelt filter that is ignored would
/// match everything.
package struct QueryReader {
  private var values: [String: String] = [:]
  private var known: [String] = []

  package init(_ items: [(name: String, value: String)]) throws {
    for item in items {
      guard values.updateValue(item.value, forKey: item.name) == nil else {
        throw ConsoleError.badRequest("\(DocumentError.quoted(item.name)) is given twice")
      }
    }
  }

  /// A value as it is; nil when absent.
  package mutating func text(_ name: String) -> String? {
    known.append(name)
    return values[name]
  }

  /// A value that a text spells.
  package mutating func value<Value>(_ name: String, _ kind: JSONKind<Value>) throws -> Value? {
    try text(name).map { try kind.read(.string($0), name) }
  }

  /// A whole number.
  package mutating func integer(_ name: String, _ range: ClosedRange<Int>) throws -> Int? {
    guard let text = text(name) else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw ConsoleError.bad(
        name, expected: "a number from \(range.lowerBound) to \(range.upperBound)", got: text)
    }
    return number
  }

  /// The environment, or nil when absent.
  package mutating func environment() throws -> Environment? {
    try value("environment", .word(Environment.allCases, { $0.name }))
  }

  /// Throws for a name that was not read.
  package func finish() throws {
    for name in values.keys.sorted() where !known.contains(name) {
      guard !known.isEmpty else { throw ConsoleError.bad("the query", expected: "no query", got: name) }
      // Some are looked at twice.
      throw DocumentError("the query", expected: Set(known).sorted(), got: name)
    }
  }
}
