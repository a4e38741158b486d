/// A JSON object that somebody sent, read member by member. Of members with the same name the last counts.
public struct JSONObject: Sendable {
  public let members: [(String, JSONValue)]
  /// Where it lies in the document, for what is said about its members; empty for the document itself.
  public let place: String

  public init(members: [(String, JSONValue)] = [], place: String = "") {
    (self.members, self.place) = (members, place)
  }

  /// What a member or an entry of an array is.
  public init(_ value: JSONValue, place: String) throws(DocumentError) {
    guard case .object(let members) = value else {
      throw DocumentError(place, expected: "an object", got: value)
    }
    self.init(members: members, place: place)
  }

  /// The path of a member: `devices[2].apps[0].token`.
  public func path(_ name: String) -> String { place.isEmpty ? name : "\(place).\(name)" }

  /// Throws for a member that is not among `names`.
  public func check(allowing names: [String]) throws(DocumentError) {
    for (name, _) in members where !names.contains(name) {
      throw DocumentError(place.isEmpty ? "the body" : place, expected: names, got: name)
    }
  }

  /// A member, which may be null.
  public subscript(name: String) -> JSONValue? { members.last { $0.0 == name }?.1 }

  /// As this, with null for absent: for members that answers show as null.
  public func droppingNull(_ name: String) -> JSONObject {
    guard case .null? = self[name] else { return self }
    return dropping(name)
  }

  /// As this without a member, for what is read elsewhere.
  public func dropping(_ name: String) -> JSONObject {
    JSONObject(members: members.filter { $0.0 != name }, place: place)
  }

  /// What a member says; nil if it is absent.
  public func value<Value>(_ name: String, _ kind: JSONKind<Value>) throws -> Value? {
    try self[name].map { try kind.read($0, path(name)) }
  }

  /// What a member says that must be there.
  public func required<Value>(_ name: String, _ kind: JSONKind<Value>) throws -> Value {
    guard let value = try value(name, kind) else {
      throw DocumentError("\(path(name)): expected \(kind.expected), got nothing")
    }
    return value
  }
}

extension JSONObject {
  /// Deepest nesting of a body, as a count of levels. A payload of 5120 bytes could nest deeper, but nobody's does; it
  /// can be sent as Base64.
  public static let bodyDepth = 64

  /// Reads a request's body or a file.
  public init(body: [UInt8]) throws(DocumentError) {
    let value = try Self.parse(body)
    guard case .object(let members) = value else {
      throw DocumentError("the body", expected: "a JSON object", got: value)
    }
    self.init(members: members)
  }

  private static func parse(_ body: [UInt8]) throws(DocumentError) -> JSONValue {
    if let value = JSONReader.read(body, maximumDepth: bodyDepth) { return value }
    guard JSONText.compact(body) == nil else {
      throw DocumentError("the body: expected at most \(bodyDepth) levels of nesting, got more")
    }
    let asked = DocumentError(
      "the body", expected: "a JSON object", got: .string(String(decoding: body.prefix(200), as: UTF8.self)))
    throw DocumentError(
      asked.description + (JSONReader.problem(of: body, maximumDepth: bodyDepth).map { ": \($0)" } ?? ""))
  }
}

/// A document is not what it should be: a lower-case sentence says which member, what was expected and what came.
public struct DocumentError: Error, Equatable, CustomStringConvertible {
  public let description: String

  public init(_ description: String) { self.description = description }

  /// What came is told as it came, but lists and objects by their kind.
  ///
  ///     DocumentError("limit", expected: "a number", got: .string("5"))  // limit: expected a number, got "5"
  public init(_ place: String, expected: String, got value: JSONValue) {
    self.init("\(place): expected \(expected), got \(Self.words(value))")
  }

  /// One of these words was expected; says which was perhaps meant.
  public init(_ place: String, expected words: [String], got word: String) {
    let asked = Self(place, expected: "one of \(words.joined(separator: ", "))", got: .string(word))
    self.init(asked.description + Suggestion.question(word, among: words))
  }

  private static func words(_ value: JSONValue) -> String {
    switch value {
    case .string(let text): quoted(text)
    case .array(let values): values.isEmpty ? "an empty list" : "a list of \(values.count)"
    case .object(let members): members.isEmpty ? "an empty object" : "an object"
    case .null, .bool, .integer, .number, .verbatim: value.text
    }
  }

  /// Text that came, shortened: a peer may send much.
  public static func quoted(_ text: String) -> String {
    let most = 80
    return text.count > most ? "\"\(text.prefix(most))…\"" : "\"\(text)\""
  }
}
