/// How a value stands in a document: what it looks like, how it is read, and how it is written.
public struct JSONKind<Value>: Sendable {
  /// In JSON Schema.
  public let schema: JSONValue
  /// What is asked for where something else is.
  public let expected: String
  public let read: @Sendable (_ value: JSONValue, _ place: String) throws -> Value
  public let write: @Sendable (Value) -> JSONValue

  public init(
    _ expected: String, _ schema: JSONValue, read: @escaping @Sendable (JSONValue, String) throws -> Value,
    write: @escaping @Sendable (Value) -> JSONValue
  ) {
    (self.expected, self.schema, self.read, self.write) = (expected, schema, read, write)
  }

  /// A value that is refused with no other words than what was expected: `take` answers nil.
  public init(
    _ expected: String, _ schema: JSONValue, take: @escaping @Sendable (JSONValue) -> Value?,
    write: @escaping @Sendable (Value) -> JSONValue
  ) {
    self.init(expected, schema) { value, place in
      guard let taken = take(value) else { throw DocumentError(place, expected: expected, got: value) }
      return taken
    } write: {
      write($0)
    }
  }

  /// A value that a string spells.
  public static func spelled(
    _ expected: String, _ schema: JSONValue,
    _ take: @escaping @Sendable (String) -> Value?, _ write: @escaping @Sendable (Value) -> String,
    words: [String] = []
  ) -> JSONKind {
    JSONKind(expected, schema) { value, place in
      guard case .string(let text) = value else {
        throw DocumentError(place, expected: expected, got: value)
      }
      if let taken = take(text) { return taken }
      let asked = DocumentError(place, expected: expected, got: value)
      throw DocumentError(asked.description + Suggestion.question(text, among: words))
    } write: {
      .string(write($0))
    }
  }

  /// One of some values, each with a word of its own.
  public static func word(
    _ values: [Value], _ name: @escaping @Sendable (Value) -> String, expected: String? = nil
  ) -> JSONKind where Value: Sendable {
    let words = values.map(name)
    return .spelled(
      expected ?? "one of \(words.joined(separator: ", "))", .words(words),
      { text in values.first { name($0) == text } }, name, words: words)
  }

  /// As this, with another schema: a narrower one that generators of requests get along with.
  public func described(as schema: JSONValue) -> JSONKind {
    JSONKind(expected, schema, read: read, write: write)
  }

  /// As this, of those alone that `isFine` says yes to.
  public func narrowed(_ expected: String, _ isFine: @escaping @Sendable (Value) -> Bool) -> JSONKind {
    JSONKind(expected, schema) { value, place in
      let read = try read(value, place)
      guard isFine(read) else { throw DocumentError(place, expected: expected, got: value) }
      return read
    } write: {
      write($0)
    }
  }

  /// An array of such. `noun` says of what, in the plural.
  public static func list<Element>(of kind: JSONKind<Element>, _ noun: String = "strings") -> JSONKind
  where Value == [Element] {
    let expected = "an array of \(noun)"
    return JSONKind(expected, ["type": "array", "items": kind.schema]) { value, place in
      guard case .array(let values) = value else {
        throw DocumentError(place, expected: expected, got: value)
      }
      return try values.enumerated().map { try kind.read($1, "\(place)[\($0)]") }
    } write: {
      .array($0.map(kind.write))
    }
  }
}

extension JSONKind {
  /// An object whose members are all of a kind, by their names. `noun` says what they are, in the plural.
  public static func dictionary<Key: Sendable, Element: Sendable>(
    of kind: JSONKind<Element>, by key: JSONKind<Key>, _ noun: String
  ) -> JSONKind where Value == [Key: Element] {
    let expected = "an object of \(noun)"
    return JSONKind(expected, ["type": "object", "additionalProperties": kind.schema]) { value, place in
      guard case .object(let members) = value else {
        throw DocumentError(place, expected: expected, got: value)
      }
      return try members.reduce(into: [:]) { result, member in
        let name = try key.read(.string(member.0), place)
        result[name] = try kind.read(member.1, "\(place).\(member.0)")
      }
    } write: { values in
      let members = values.compactMap { name, value -> (String, JSONValue)? in
        guard case .string(let name) = key.write(name) else { return nil }
        return (name, kind.write(value))
      }
      return .object(members.sorted { $0.0 < $1.0 })
    }
  }
}

extension JSONKind where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
  /// One of the cases, by its name.
  public static var word: JSONKind { word(expected: nil) }
  public static func word(expected: String?) -> JSONKind {
    .word(Array(Value.allCases), { $0.rawValue }, expected: expected)
  }
}

extension JSONKind where Value: FixedWidthInteger & Sendable {
  /// A whole number; in JSON 71.0 is the same as 71.
  public static func whole(_ range: ClosedRange<Int64>) -> JSONKind {
    JSONKind("a number from \(range.lowerBound) to \(range.upperBound)", .integers(range)) { value in
      let number: Int64? =
        switch value {
        case .integer(let number): number
        case .number(let number): Int64(exactly: number)
        default: nil
        }
      return number.flatMap { range.contains($0) ? Value(exactly: $0) : nil }
    } write: {
      .integer(Int64(clamping: $0))
    }
  }

  /// Any number that the type has.
  public static var whole: JSONKind { whole(Int64(clamping: Value.min)...Int64(clamping: Value.max)) }
}

extension JSONKind<String> {
  public static var text: JSONKind { .spelled("a string", ["type": "string"], { $0 }, { $0 }) }
}

extension JSONKind<JSONValue> {
  /// Whatever it is.
  public static var any: JSONKind { JSONKind("JSON", [:], take: { $0 }, write: { $0 }) }
}

extension JSONKind<Bool> {
  public static var flag: JSONKind {
    JSONKind("true or false", ["type": "boolean"]) { value in
      if case .bool(let flag) = value { flag } else { nil }
    } write: {
      .bool($0)
    }
  }
}

extension JSONKind<Double> {
  public static func number(_ range: ClosedRange<Double>, expected: String? = nil) -> JSONKind {
    let bounds = [range.lowerBound, range.upperBound].map { bound in
      Int64(exactly: bound).map(JSONValue.integer) ?? .number(bound)
    }
    return JSONKind(
      expected ?? "a number from \(bounds[0].text) to \(bounds[1].text)",
      ["type": "number", "minimum": bounds[0], "maximum": bounds[1]]
    ) { value in
      value.double.flatMap { range.contains($0) ? $0 : nil }
    } write: {
      .number($0)
    }
  }
}

extension JSONKind<[UInt8]> {
  /// Hexadecimal digits of so many bytes.
  public static func hex(_ expected: String, _ counts: ClosedRange<Int>?) -> JSONKind {
    let times = counts.map { "{\($0.lowerBound),\($0.upperBound)}" } ?? "+"
    return .spelled(
      expected, ["type": "string", "pattern": .string("^([0-9A-Fa-f]{2})\(times)$")],
      { text in
        Hex.decode(text).flatMap { counts?.contains($0.count) ?? !$0.isEmpty ? $0 : nil }
      }, { Hex.encode($0) })
  }
}

/// Base64, which is read in any spelling (`Base64.Form.forgiving`) and described as it is written.
extension JSONKind<[UInt8]> {
  public static var base64: JSONKind {
    base64("Base64", "^\(Base64Group.whole)*(\(Base64Group.ofOne)|\(Base64Group.ofTwo))?$") { _ in true }
  }

  /// Of one byte at least and of so many, three or more, at most.
  public static func base64(upTo most: Int) -> JSONKind {
    let texts = [
      "\(Base64Group.whole){1,\(most / 3)}", "\(Base64Group.whole){0,\((most - 1) / 3)}\(Base64Group.ofOne)",
      "\(Base64Group.whole){0,\((most - 2) / 3)}\(Base64Group.ofTwo)",
    ]
    return base64("Base64 of 1 to \(most) bytes", "^(\(texts.joined(separator: "|")))$") {
      (1...most).contains($0.count)
    }
  }

  private static func base64(
    _ expected: String, _ pattern: String, _ isFine: @escaping @Sendable ([UInt8]) -> Bool
  ) -> JSONKind {
    .spelled(
      expected, ["type": "string", "contentEncoding": "base64", "pattern": .string(pattern)],
      { Base64.decode($0.utf8).flatMap { isFine($0) ? $0 : nil } }, { Base64.encode($0) })
  }
}

/// Patterns of four characters of Base64 (RFC 4648 4): bits left over are zero.
private enum Base64Group {
  static let whole = "([A-Za-z0-9+/]{4})"
  static let ofOne = "[A-Za-z0-9+/][AQgw]=="
  static let ofTwo = "[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]="
}

// MARK: The words everybody shares

extension JSONKind<Timestamp> {
  public static var time: JSONKind {
    .spelled(
      "a time as 2026-01-02T03:04:05Z", ["type": "string", "format": "date-time"],
      { Timestamp(rfc3339: $0) }, { $0.rfc3339 })
  }
}

extension JSONKind<Int64> {
  /// A time span in nanoseconds.
  public static var duration: JSONKind {
    .spelled(
      "a duration as 61m or 1h30m", ["type": "string", "pattern": "^[+-]?([0-9]+(ms|d|h|m|s))+$"],
      { DurationText.nanoseconds($0) }, { "\($0 / 1_000_000)ms" })
  }
}

/// Pieces of JSON Schema.
extension JSONValue {
  public static func words(_ words: [String]) -> JSONValue {
    ["type": "string", "enum": .array(words.map(JSONValue.string))]
  }

  public static func integers(_ range: ClosedRange<Int64>) -> JSONValue {
    ["type": "integer", "minimum": .integer(range.lowerBound), "maximum": .integer(range.upperBound)]
  }

  /// A schema of the API's description by its name.
  public static func schema(_ name: String) -> JSONValue {
    ["$ref": .string("#/components/schemas/\(name)")]
  }
}
