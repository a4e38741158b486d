/// A document in JSON as one list of its members: reading with its errors, the names that may stand in it, writing and
/// the schema all come from the list.
///
///     static let form = JSONForm<FaultMatch>([
///       JSONField("topic", .text, \.topic), JSONField("priority", .priority, \.priority),
///     ])
public struct JSONForm<Root>: Sendable {
  public let fields: [JSONField<Root>]
  /// What else the schema says: which members exclude each other, how few there may be.
  private let rules: [(String, JSONValue)]

  public init(_ fields: [JSONField<Root>], rules: [(String, JSONValue)] = []) {
    (self.fields, self.rules) = (fields, rules)
  }

  public var names: [String] { fields.map(\.name) }

  /// Reads the members that are there into `root`, whose other parts stay. Throws for a member that it does not know.
  public func read(_ object: JSONObject, into root: inout Root) throws {
    try object.check(allowing: names)
    for field in fields {
      if let value = object[field.name] {
        try field.read(value, object.path(field.name), &root)
      } else if let expected = field.required {
        throw DocumentError("\(object.path(field.name)): expected \(expected), got nothing")
      }
    }
  }

  /// The same into what is as in `start` where nothing is said.
  public func read(_ object: JSONObject, from start: Root) throws -> Root {
    var root = start
    try read(object, into: &root)
    return root
  }

  /// The members that there is something to say of.
  public func members(_ root: Root) -> [(String, JSONValue)] {
    fields.compactMap { field in field.write(root).map { (field.name, $0) } }
  }

  public func document(_ root: Root) -> JSONValue { .object(members(root)) }

  /// In JSON Schema; nobody else's members are allowed.
  public var schema: JSONValue {
    let required = fields.filter { $0.required != nil }.map { JSONValue.string($0.name) }
    let properties = fields.map { ($0.name, $0.schema) }
    return .object(
      [("type", "object"), ("additionalProperties", false)]
        + (required.isEmpty ? [] : [("required", .array(required))]) + rules
        + [("properties", .object(properties))])
  }

  /// As a member of another document. What it leaves out is as in `start`.
  public func kind(_ start: Root) -> JSONKind<Root> where Root: Sendable {
    JSONKind("an object", schema) { value, place in
      try read(JSONObject(value, place: place), from: start)
    } write: {
      document($0)
    }
  }
}

/// What stands in documents as its `form` says.
public protocol JSONDocument: Sendable {
  static var form: JSONForm<Self> { get }
}

extension JSONDocument {
  public var document: JSONValue { Self.form.document(self) }
}

/// One member of a document.
public struct JSONField<Root>: Sendable {
  public let name: String
  /// In JSON Schema.
  public let schema: JSONValue
  /// What is asked for where it is missing; nil if it may be.
  private(set) var required: String?
  private let expected: String
  let read: @Sendable (_ value: JSONValue, _ place: String, inout Root) throws -> Void
  let write: @Sendable (Root) -> JSONValue?

  /// A member that is read and written by hand; `write` answers nil for what is left out.
  public init(
    _ name: String, _ schema: JSONValue, expected: String = "",
    read: @escaping @Sendable (_ value: JSONValue, _ place: String, inout Root) throws -> Void,
    write: @escaping @Sendable (Root) -> JSONValue?
  ) {
    (self.name, self.schema, self.expected, self.read, self.write) = (name, schema, expected, read, write)
  }

  /// A member with a way in and out: `get` answers nil for what is left out.
  public init<Value>(
    _ name: String, _ kind: JSONKind<Value>, get: @escaping @Sendable (Root) -> Value?,
    set: @escaping @Sendable (inout Root, Value) throws -> Void
  ) {
    self.init(name, kind.schema, expected: kind.expected) {
      try set(&$2, kind.read($0, $1))
    } write: {
      get($0).map(kind.write)
    }
  }

  public init<Value>(
    _ name: String, _ kind: JSONKind<Value>, _ path: WritableKeyPath<Root, Value> & Sendable
  ) {
    self.init(name, kind, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// One that is left out where there is none.
  public init<Value>(
    _ name: String, _ kind: JSONKind<Value>, _ path: WritableKeyPath<Root, Value?> & Sendable
  ) {
    self.init(name, kind, get: { $0[keyPath: path] }, set: { $0[keyPath: path] = $1 })
  }

  /// One that is null where there is none.
  public init<Value>(
    nullable name: String, _ kind: JSONKind<Value>, _ path: WritableKeyPath<Root, Value?> & Sendable
  ) {
    let schema: JSONValue = ["oneOf": [["type": "null"], kind.schema]]
    self.init(name, schema, expected: kind.expected) { value, place, root in
      if case .null = value {
        root[keyPath: path] = nil
      } else {
        root[keyPath: path] = try kind.read(value, place)
      }
    } write: {
      $0[keyPath: path].map(kind.write) ?? .null
    }
  }

  /// One that is left out where it is false.
  public init(flag name: String, _ path: WritableKeyPath<Root, Bool> & Sendable) {
    self.init(name, .flag, get: { $0[keyPath: path] ? true : nil }, set: { $0[keyPath: path] = $1 })
  }

  /// One that is a document of its own: its members are read into what is there.
  public init<Part: JSONDocument>(part name: String, _ path: WritableKeyPath<Root, Part> & Sendable) {
    self.init(name, Part.form.schema, expected: "an object") { value, place, root in
      try Part.form.read(JSONObject(value, place: place), into: &root[keyPath: path])
    } write: {
      $0[keyPath: path].document
    }
  }

  /// One of an answer that is ignored whatever it is, so that what was answered can be sent back.
  public init(ignored name: String) { self.init(name, [:], read: { _, _, _ in }, write: { _ in nil }) }

  /// An array of objects, each taken in its turn; it is written elsewhere. `shape` names the schema of one.
  public init(
    objects name: String, _ shape: String, _ take: @escaping @Sendable (inout Root, JSONObject) throws -> Void
  ) {
    let list = JSONKind.list(
      of: JSONKind("an object", .schema(shape), read: JSONObject.init, write: { .object($0.members) }),
      "objects")
    self.init(name, list, get: { _ in nil }, set: { for each in $1 { try take(&$0, each) } })
  }

  /// The same of what holds it.
  public func of<Outer>(_ path: WritableKeyPath<Outer, Root> & Sendable) -> JSONField<Outer> {
    var field = JSONField<Outer>(name, schema, expected: expected) {
      try read($0, $1, &$2[keyPath: path])
    } write: {
      write($0[keyPath: path])
    }
    field.required = required
    return field
  }

  /// Whether there is something to say of it.
  public func isWritten(_ root: Root) -> Bool { write(root) != nil }

  /// As this, of a member that must be there.
  public var needed: JSONField {
    var field = self
    field.required = expected
    return field
  }
}
