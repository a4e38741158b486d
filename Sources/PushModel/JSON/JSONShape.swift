/// How a value stands in an answer: as it is written, in JSON Schema, and by an example. What is read as well has a `JSONKind` or a
/// `JSONForm`.
///
///     static let shape = JSONShape<Broadcast>([
///       "id": .show(1) { $0.id }, "sentAt": .show { $0.sentAt }, "count": .maybe { $0.count },
///     ]).named("Broadcast")
public struct JSONShape<Value>: Sendable {
  public let schema: JSONSchema
  public let write: @Sendable (Value) -> JSONValue

  public init(_ schema: JSONSchema, _ write: @escaping @Sendable (Value) -> JSONValue) {
    (self.schema, self.write) = (schema, write)
  }

  /// An object of these members.
  public init(_ members: JSONMembers<Value>) { self.init(members.schema) { .object(members.written($0)) } }

  /// As this, under a name, by which others refer to it.
  public func named(_ name: String) -> JSONShape { JSONShape(schema.with { $0.name = name }, write) }

  /// As this, with another example.
  public func showing(_ example: JSONValue) -> JSONShape {
    JSONShape(schema.with { $0.example = example }, write)
  }

  public static func list<Element>(of shape: JSONShape<Element>) -> JSONShape where Value == [Element] {
    JSONShape(shape.schema.list) { [write = shape.write] in .array($0.map(write)) }
  }
}

/// One member of an object in an answer.
public struct JSONMember<Root>: Sendable {
  fileprivate let schema: JSONSchema
  /// Whether there is one always.
  fileprivate let isRequired: Bool
  /// Whether the example has one.
  fileprivate let isShown: Bool
  /// nil for what is left out.
  public let write: @Sendable (Root) -> JSONValue?

  @usableFromInline init(
    _ schema: JSONSchema, isRequired: Bool = true, isShown: Bool = true,
    write: @escaping @Sendable (Root) -> JSONValue?
  ) {
    (self.schema, self.isRequired, self.isShown, self.write) = (schema, isRequired, isShown, write)
  }

  /// One that is always there, as its type says; `words` for what its name does not say.
  @inlinable public static func show<Value: JSONShown>(
    _ example: JSONValue? = nil, words: String? = nil, _ get: @escaping @Sendable (Root) -> Value
  ) -> JSONMember {
    JSONMember(Value.schema.saying(words, example)) { get($0).json }
  }

  public static func show<Value>(as shape: JSONShape<Value>, _ get: @escaping @Sendable (Root) -> Value)
    -> JSONMember
  {
    JSONMember(shape.schema) { [write = shape.write] in write(get($0)) }
  }

  /// One that is left out where there is none, and of the example unless it is said.
  @inlinable public static func maybe<Value: JSONShown>(
    _ example: JSONValue? = nil, words: String? = nil, _ get: @escaping @Sendable (Root) -> Value?
  ) -> JSONMember {
    let schema = Value.schema.saying(words, example)
    return JSONMember(schema, isRequired: false, isShown: example != nil) { get($0)?.json }
  }

  /// One that is written elsewhere, as what is long.
  public static func elsewhere(_ schema: JSONSchema, isRequired: Bool = true) -> JSONMember {
    JSONMember(schema, isRequired: isRequired, isShown: isRequired) { _ in nil }
  }

  /// The same member of what has such a root as a part.
  public func of<Whole>(_ part: @escaping @Sendable (Whole) -> Root) -> JSONMember<Whole> {
    JSONMember<Whole>(schema, isRequired: isRequired, isShown: isShown) { [write] in write(part($0)) }
  }
}

/// Members with their names, in the order in which they are written.
public struct JSONMembers<Root>: Sendable, ExpressibleByDictionaryLiteral {
  public let all: [(name: String, member: JSONMember<Root>)]
  /// The same, side by side: going through `all` would copy each member's schema.
  private let names: [String]
  private let writers: [@Sendable (Root) -> JSONValue?]

  public init(dictionaryLiteral elements: (String, JSONMember<Root>)...) { self.init(elements) }

  fileprivate init(_ all: [(name: String, member: JSONMember<Root>)]) {
    self.all = all
    (names, writers) = (all.map(\.name), all.map(\.member.write))
  }

  public static func + (left: JSONMembers, right: JSONMembers) -> JSONMembers {
    JSONMembers(left.all + right.all)
  }

  /// The same of what has such a root as a part.
  public func of<Whole>(_ part: @escaping @Sendable (Whole) -> Root) -> JSONMembers<Whole> {
    JSONMembers<Whole>(all.map { ($0, $1.of(part)) })
  }

  /// The same where something else writes them.
  public func elsewhere<Whole>() -> JSONMembers<Whole> {
    JSONMembers<Whole>(all.map { ($0, .elsewhere($1.schema, isRequired: $1.isRequired)) })
  }

  /// Those that there is something to say of.
  public func written(_ root: Root) -> [(String, JSONValue)] {
    var written: [(String, JSONValue)] = []
    written.reserveCapacity(all.count)
    for index in names.indices {
      if let value = writers[index](root) { written.append((names[index], value)) }
    }
    return written
  }

  /// Whatever else may be there as well: adding is free.
  fileprivate var schema: JSONSchema {
    let required = all.filter(\.member.isRequired).map { JSONValue.string($0.name) }
    let definition: JSONValue = [
      "type": "object", "required": .array(required),
      "properties": .object(all.map { ($0, $1.schema.reference) }),
    ]
    return JSONSchema(
      definition, example: .object(all.filter(\.member.isShown).map { ($0, $1.schema.example) }))
  }
}

/// A schema with an example, and the name under which an API's description has it.
public struct JSONSchema: Sendable {
  public fileprivate(set) var name: String?
  public private(set) var definition: JSONValue
  public fileprivate(set) var example: JSONValue

  public init(_ name: String?, _ definition: JSONValue, example: JSONValue) {
    (self.name, self.definition, self.example) = (name, definition, example)
  }

  public init(_ definition: JSONValue, example: JSONValue) { self.init(nil, definition, example: example) }

  /// As it stands in another one.
  public var reference: JSONValue { name.map(JSONValue.schema) ?? definition }

  public var list: JSONSchema { JSONSchema(["type": "array", "items": reference], example: [example]) }

  fileprivate var orNull: JSONSchema {
    guard name == nil, let type = definition.string("type"), type != "object" else {
      return JSONSchema(["oneOf": [["type": "null"], reference]], example: nil)
    }
    return JSONSchema(["type": [.string(type), "null"]], example: nil)
  }

  @usableFromInline func saying(_ words: String?, _ example: JSONValue?) -> JSONSchema {
    with {
      if let example { $0.example = example }
      guard let words, case .object(let members) = definition else { return }
      $0.definition = .object(members + [("description", .string(words))])
    }
  }

  fileprivate func with(_ change: (inout JSONSchema) -> Void) -> JSONSchema {
    var schema = self
    change(&schema)
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

extension Environment: JSONWord {}
extension Interface: JSONWord {}
extension PushType: JSONWord {}

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
    Element.schema.list.saying(nil, Element.self is any JSONAnswer.Type ? nil : [])
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

/// Hexadecimal digits.
public struct JSONHex: JSONShown {
  private let digits: String

  public init(_ digits: String) { self.digits = digits }

  public static var schema: JSONSchema {
    JSONSchema(["type": "string", "pattern": "^([0-9a-f]{2}){1,100}$"], example: JSONExample.token)
  }
  public var json: JSONValue { .string(digits) }
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
