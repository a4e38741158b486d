import PushModel

/// A JSON object of a request, read member by member.
struct JSONObject {
  var members: [(String, JSONValue)]

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
    return JSONObject(members: members.filter { $0.0 != name })
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
    return JSONObject(members: members)
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
    ConsoleError.bad(name, expected: expected, got: got.text)
  }
}
