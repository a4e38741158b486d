/// An object as it stands in answers, as one list of its members: what is written, the schema and an example come from the list. What
/// is read as well has a `JSONForm`.
///
///     static let shape = JSONShape<Broadcast>([
///       "id": .show(1) { $0.id }, "sentAt": .show { $0.sentAt }, "count": .maybe { $0.count },
///     ]).named("Broadcast")
///
/// Schemas are made when somebody asks for them: no answer does.
public struct JSONShape<Root>: Sendable, ExpressibleByDictionaryLiteral {
  private let name: String?
  private let members: [JSONMemberSchema]
  /// Of each member.
  private let writers: [@Sendable (Root) -> JSONValue?]

  public init(dictionaryLiteral elements: (String, JSONMember<Root>)...) {
    self.init(nil, elements.map { $1.schema.named($0) }, elements.map(\.1.write))
  }

  public init(_ shape: JSONShape) { self = shape }

  /// The same under a name, by which others refer to it.
  public func named(_ name: String) -> JSONShape { JSONShape(name, members, writers) }

  private init(
    _ name: String?, _ members: [JSONMemberSchema], _ writers: [@Sendable (Root) -> JSONValue?]
  ) { (self.name, self.members, self.writers) = (name, members, writers) }

  public static func + (left: JSONShape, right: JSONShape) -> JSONShape {
    JSONShape(nil, left.members + right.members, left.writers + right.writers)
  }

  /// The same of what has such a root as a part.
  public func of<Whole>(_ part: @escaping @Sendable (Whole) -> Root) -> JSONShape<Whole> {
    JSONShape<Whole>(nil, members, writers.map { write in { write(part($0)) } })
  }

  /// The same where something else writes them.
  public func elsewhere<Whole>() -> JSONShape<Whole> {
    JSONShape<Whole>(nil, members, writers.map { _ in { _ in nil } })
  }

  /// Those members that there is something to say of.
  public func written(_ root: Root) -> [(String, JSONValue)] {
    var written: [(String, JSONValue)] = []
    written.reserveCapacity(members.count)
    for index in members.indices {
      if let value = writers[index](root) { written.append((members[index].name, value)) }
    }
    return written
  }

  public func write(_ root: Root) -> JSONValue { .object(written(root)) }

  public var schema: JSONSchema { .object(name, members) }
}

/// One member of an object in an answer.
public struct JSONMember<Root>: Sendable {
  fileprivate let schema: JSONMemberSchema
  /// nil for what is left out.
  public let write: @Sendable (Root) -> JSONValue?

  public init(_ schema: JSONMemberSchema, _ write: @escaping @Sendable (Root) -> JSONValue?) {
    (self.schema, self.write) = (schema, write)
  }

  /// One that is always there, as its type says; `words` for what its name does not say.
  @inlinable public static func show<Value: JSONShown>(
    _ example: JSONValue? = nil, words: String? = nil, _ get: @escaping @Sendable (Root) -> Value
  ) -> JSONMember {
    JSONMember(JSONMemberSchema(Value.self, example, words, isRequired: true)) { get($0).json }
  }

  /// One that is left out where there is none, and of the example unless it is said.
  @inlinable public static func maybe<Value: JSONShown>(
    _ example: JSONValue? = nil, words: String? = nil, _ get: @escaping @Sendable (Root) -> Value?
  ) -> JSONMember {
    JSONMember(JSONMemberSchema(Value.self, example, words, isRequired: false)) { get($0)?.json }
  }

  /// One as a kind of value says.
  public static func show<Value>(
    _ example: JSONValue, as kind: JSONKind<Value>, _ get: @escaping @Sendable (Root) -> Value
  ) -> JSONMember {
    JSONMember(JSONMemberSchema({ JSONSchema(kind.schema, example: example) })) { kind.write(get($0)) }
  }

  public static func show<Part>(as shape: JSONShape<Part>, _ get: @escaping @Sendable (Root) -> Part)
    -> JSONMember
  {
    JSONMember(JSONMemberSchema({ shape.schema })) { shape.write(get($0)) }
  }

  public static func list<Part>(of shape: JSONShape<Part>, _ get: @escaping @Sendable (Root) -> [Part])
    -> JSONMember
  {
    JSONMember(JSONMemberSchema({ shape.schema.list })) { .array(get($0).map(shape.write)) }
  }

  /// One that is written elsewhere, as what is long.
  public static func elsewhere(
    _ schema: @escaping @Sendable @autoclosure () -> JSONSchema, isRequired: Bool = true
  ) -> JSONMember {
    JSONMember(JSONMemberSchema(schema, isRequired: isRequired)) { _ in nil }
  }
}

/// What the API's description says of a member, whatever it is a member of.
public struct JSONMemberSchema: Sendable {
  fileprivate var name = ""
  /// Whether there is one always.
  fileprivate let isRequired: Bool
  /// Whether the example has one.
  fileprivate let isShown: Bool
  fileprivate let schema: @Sendable () -> JSONSchema

  fileprivate init(_ schema: @escaping @Sendable () -> JSONSchema, isRequired: Bool = true) {
    (self.schema, self.isRequired, isShown) = (schema, isRequired, isRequired)
  }

  public init(
    _ type: any JSONShown.Type, _ example: JSONValue?, _ words: String?, isRequired: Bool
  ) {
    schema = { type.schema.showing(example, words) }
    (self.isRequired, isShown) = (isRequired, isRequired || example != nil)
  }

  fileprivate func named(_ name: String) -> JSONMemberSchema {
    var member = self
    member.name = name
    return member
  }
}

/// A schema with an example, and the name under which an API's description has it.
public struct JSONSchema: Sendable {
  public let name: String?
  public private(set) var definition: JSONValue
  public private(set) var example: JSONValue
  /// Those with a name that it refers to.
  private let parts: [JSONSchema]

  public init(_ name: String?, _ definition: JSONValue, example: JSONValue, parts: [JSONSchema] = []) {
    (self.name, self.definition, self.example, self.parts) = (name, definition, example, parts)
  }

  public init(_ definition: JSONValue, example: JSONValue) { self.init(nil, definition, example: example) }

  /// Whatever else may be there as well: adding is free.
  fileprivate static func object(_ name: String?, _ members: [JSONMemberSchema]) -> JSONSchema {
    let all = members.map { (name: $0.name, schema: $0.schema(), member: $0) }
    let definition: JSONValue = [
      "type": "object", "required": .array(members.filter(\.isRequired).map { .string($0.name) }),
      "properties": .object(all.map { ($0.name, $0.schema.reference) }),
    ]
    return JSONSchema(
      name, definition, example: .object(all.filter(\.member.isShown).map { ($0.name, $0.schema.example) }),
      parts: all.flatMap(\.schema.named))
  }

  /// As it stands in another one.
  public var reference: JSONValue { name.map(JSONValue.schema) ?? definition }

  /// All with a name that are to be told where it stands.
  public var named: [JSONSchema] { (name == nil ? [] : [self]) + parts }

  public var list: JSONSchema {
    JSONSchema(nil, ["type": "array", "items": reference], example: [example], parts: named)
  }

  fileprivate var orNull: JSONSchema {
    guard name == nil, let type = definition.string("type"), type != "object" else {
      return JSONSchema(nil, ["oneOf": [["type": "null"], reference]], example: nil, parts: named)
    }
    return JSONSchema(["type": [.string(type), "null"]], example: nil)
  }

  /// The same with another example, and with words, where they are said.
  public func showing(_ example: JSONValue?, _ words: String? = nil) -> JSONSchema {
    var schema = self
    schema.example = example ?? self.example
    if let words, case .object(let members) = definition {
      schema.definition = .object(members + [("description", .string(words))])
    }
    return schema
  }
}

// MARK: By types

/// What stands in answers as its type says: here, as an object of which no more is told.
public protocol JSONShown: SendableMetatype {
  static var schema: JSONSchema { get }
  var json: JSONValue { get }
}

extension JSONShown {
  public static var schema: JSONSchema { JSONSchema(["type": "object"], example: nil) }
}

extension JSONShown where Self: JSONDocument {
  public var json: JSONValue { document }
}

/// What has a shape.
public protocol JSONAnswer: JSONShown {
  static var shape: JSONShape<Self> { get }
}

extension JSONAnswer {
  public static var schema: JSONSchema { shape.schema }
  public var json: JSONValue { Self.shape.write(self) }
}

/// One of some words.
public protocol JSONWord: JSONShown, CaseIterable {
  var name: String { get }
}

extension JSONWord {
  public static var schema: JSONSchema {
    let words = allCases.map(\.name)
    return JSONSchema(.words(words), example: .string(words.first ?? ""))
  }
  public var json: JSONValue { .string(name) }
}

extension JSONWord where Self: RawRepresentable, RawValue == String {
  public var name: String { rawValue }
}

extension JSONShown where Self: FixedWidthInteger {
  public static var schema: JSONSchema { JSONSchema(["type": "integer"], example: 0) }
  public var json: JSONValue { .integer(Int64(clamping: self)) }
}

extension Int: JSONShown {}
extension Int32: JSONShown {}
extension Int64: JSONShown {}
extension UInt8: JSONShown {}
extension UInt32: JSONShown {}
extension UInt64: JSONShown {}

extension String: JSONShown {
  public static var schema: JSONSchema { JSONSchema(["type": "string"], example: "") }
  public var json: JSONValue { .string(self) }
}

extension Bool: JSONShown {
  public static var schema: JSONSchema { JSONSchema(["type": "boolean"], example: false) }
  public var json: JSONValue { .bool(self) }
}

extension Double: JSONShown {
  public static var schema: JSONSchema { JSONSchema(["type": "number"], example: .number(0)) }
  public var json: JSONValue { .number(self) }
}

extension Timestamp: JSONShown {
  public static var schema: JSONSchema { JSONSchema(JSONKind.time.schema, example: JSONExample.now) }
  public var json: JSONValue { .string(rfc3339) }
}

/// Whatever it is.
extension JSONValue: JSONShown {
  public static var schema: JSONSchema { JSONSchema([:], example: nil) }
  public var json: JSONValue { self }
}

/// Null for none.
extension Optional: JSONShown where Wrapped: JSONShown {
  public static var schema: JSONSchema { Wrapped.schema.orNull }
  public var json: JSONValue { self?.json ?? .null }
}

/// Without elements in examples, unless they have a shape.
extension Array: JSONShown where Element: JSONShown {
  public static var schema: JSONSchema {
    Element.schema.list.showing(Element.self is any JSONAnswer.Type ? nil : [])
  }
  public var json: JSONValue { .array(map(\.json)) }
}

/// Values under names that are data.
public struct JSONMap<Value: JSONShown>: JSONShown {
  private let values: [(String, Value)]

  public init(_ values: [(String, Value)]) { self.values = values }

  public static var schema: JSONSchema {
    JSONSchema(["type": "object", "additionalProperties": Value.schema.reference], example: [:])
  }
  public var json: JSONValue { .object(values.map { ($0, $1.json) }) }
}

extension JSONKind<String> {
  /// Hexadecimal digits, as they are written.
  public static var digits: JSONKind {
    text.described(as: ["type": "string", "pattern": "^([0-9a-f]{2}){1,100}$"])
  }
}

/// What examples tell of: one phone with one app.
public enum JSONExample {
  public static let udid: JSONValue = "phone-1"
  public static let topic: JSONValue = "com.example.app"
  public static let token: JSONValue = "8f1c5b2ad0e94763b1a8c4f7e25d90638f1c5b2ad0e94763b1a8c4f7e25d9063"
  public static let sha256: JSONValue = "1f825aa2f0020ef7cf91dfa30da4668d791c5d4824fc8e41354b89ec05795ab3"
  public static let payload: JSONValue = ["aps": ["alert": "Hello"]]
  public static let payloadBase64: JSONValue = "eyJhcHMiOnsiYWxlcnQiOiJIZWxsbyJ9fQ=="
  public static let now: JSONValue = "2026-01-02T03:04:05.678Z"
}
