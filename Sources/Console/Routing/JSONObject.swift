import PushModel

/// A JSON object of a request, read member by member.
struct JSONObject {
  var members: [(String, JSONValue)]
  /// Where it lies in the body, for what is said about its members; empty for the body itself.
  var place = ""

  /// The path of a member: `devices[2].apps[0].token`.
  func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  /// Throws for a member that is not among `names`.
  func check(allowing names: [String]) throws {
    try check(allowing: names, in: place.isEmpty ? "the body" : place)
  }

  /// Throws for a member that is not among `names`.
  func check(allowing names: [String], in place: String) throws {
    for (name, _) in members where !names.contains(name) {
      throw ConsoleError.bad(place, expected: "one of \(names.joined(separator: ", "))", got: name)
    }
  }

  /// A member, which may be null.
  subscript(name: String) -> JSONValue? { members.last { $0.0 == name }?.1 }

  /// As this, with null for absent: for members that answers show as null.
  func droppingNull(_ name: String) -> JSONObject {
    guard case .null? = self[name] else { return self }
    return dropping(name)
  }

  /// As this without a member, for what is read elsewhere.
  func dropping(_ name: String) -> JSONObject {
    JSONObject(members: members.filter { $0.0 != name }, place: place)
  }

  func string(_ name: String) throws -> String? {
    guard let value = self[name] else { return nil }
    guard case .string(let text) = value else { throw mismatch(name, "a string", value) }
    return text
  }

  func bool(_ name: String) throws -> Bool? {
    guard let value = self[name] else { return nil }
    guard case .bool(let flag) = value else { throw mismatch(name, "true or false", value) }
    return flag
  }

  func integer(_ name: String, _ range: ClosedRange<Int64>) throws -> Int64? {
    guard let value = self[name] else { return nil }
    guard let number = Self.whole(value), range.contains(number) else {
      throw mismatch(name, "a number from \(range.lowerBound) to \(range.upperBound)", value)
    }
    return number
  }

  /// In JSON 71.0 is the same number as 71.
  private static func whole(_ value: JSONValue) -> Int64? {
    switch value {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number)
    default: nil
    }
  }

  func object(_ name: String) throws -> JSONObject? {
    guard let value = self[name] else { return nil }
    guard case .object(let members) = value else { throw mismatch(name, "an object", value) }
    return JSONObject(members: members, place: path(name))
  }

  /// The objects of an array; nil if there is none.
  func objects(_ name: String) throws -> [JSONObject]? {
    guard let value = self[name] else { return nil }
    guard case .array(let values) = value else { throw mismatch(name, "an array of objects", value) }
    return try values.enumerated().map { index, value in
      let place = "\(path(name))[\(index)]"
      guard case .object(let members) = value else {
        throw ConsoleError.bad(place, expected: "an object", got: value.text)
      }
      return JSONObject(members: members, place: place)
    }
  }

  func strings(_ name: String) throws -> [String]? {
    guard let value = self[name] else { return nil }
    guard case .array(let values) = value else { throw mismatch(name, "an array of strings", value) }
    return try values.map {
      guard case .string(let text) = $0 else { throw mismatch(name, "an array of strings", value) }
      return text
    }
  }

  func mismatch(_ name: String, _ expected: String, _ got: JSONValue) -> ConsoleError {
    if case .string(let text) = got { return ConsoleError.bad(path(name), expected: expected, got: text) }
    return ConsoleError.bad(path(name), expected: expected, got: got.text)
  }

  /// What a member says, read from its text; nil if it is absent.
  func text<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) throws -> Value? {
    guard let value = self[name] else { return nil }
    guard case .string(let text) = value, let result = read(text) else {
      throw mismatch(name, expected, value)
    }
    return result
  }

  /// A time; nil if it is absent.
  func time(_ name: String) throws -> Timestamp? {
    try text(name, "a time as 2026-01-02T03:04:05Z") { Timestamp(rfc3339: $0) }
  }

  /// A member that must be there.
  func required<Value>(_ name: String, _ expected: String, _ value: Value?) throws -> Value {
    guard let value else {
      throw ConsoleError.badRequest("\(path(name)): expected \(expected), got nothing")
    }
    return value
  }
}

extension JSONObject {
  /// Deepest nesting of a body, as a count of levels. A payload of 5120 bytes could nest deeper, but nobody's does; it
  /// can be sent as Base64.
  static let bodyDepth = 64

  /// Reads a request's body or a file.
  init(body: [UInt8]) throws {
    let value = try Self.value(body)
    guard case .object(let members) = value else {
      throw ConsoleError.bad("the body", expected: "a JSON object", got: value.text)
    }
    self.init(members: members)
  }

  private static func value(_ body: [UInt8]) throws -> JSONValue {
    if let value = JSONReader.read(body, maximumDepth: bodyDepth) { return value }
    guard JSONText.compact(body) == nil else {
      throw ConsoleError.badRequest("the body: expected at most \(bodyDepth) levels of nesting, got more")
    }
    let start = String(decoding: body.prefix(200), as: UTF8.self)
    throw ConsoleError.bad("the body", expected: "a JSON object", got: start)
  }
}
