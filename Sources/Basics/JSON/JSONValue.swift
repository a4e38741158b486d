/// A JSON document for building answers: objects keep their order, and bytes that are already JSON pass through.
public enum JSONValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([(String, JSONValue)])
  /// Bytes that the caller knows to be one JSON value, put out unchanged.
  case verbatim([UInt8])

  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(nilLiteral: ()) { self = .null }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }

  /// `value` as its type says, or null.
  public static func optional(_ value: (some JSONShown)?) -> JSONValue { value.json }

  /// The document as UTF-8 without white space.
  public var encoded: [UInt8] {
    var output = ByteBuffer(capacity: 256)
    write(to: &output)
    return Array(output.span)
  }

  /// The document as text without white space.
  public var text: String { String(decoding: encoded, as: UTF8.self) }

  /// Writes it as UTF-8 without white space.
  public func write(to output: inout ByteBuffer) {
    switch self {
    case .null: output.append(json: "null")
    case .bool(let value): output.append(json: value ? "true" : "false")
    case .integer(let value): output.append(value)
    case .number(let value): output.append(value.isFinite ? "\(value)" : "null")
    case .string(let value): output.append(jsonString: value)
    case .array(let values): Self.write(values, to: &output)
    case .object(let members): Self.write(members, to: &output)
    case .verbatim(let bytes): output.append(bytes.span)
    }
  }

  private static func write(_ values: [JSONValue], to output: inout ByteBuffer) {
    output.append(json: "[")
    for (index, value) in values.enumerated() {
      if index > 0 { output.append(json: ",") }
      value.write(to: &output)
    }
    output.append(json: "]")
  }

  private static func write(_ members: [(String, JSONValue)], to output: inout ByteBuffer) {
    output.append(json: "{")
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(json: ",") }
      output.append(jsonString: member.0)
      output.append(json: ":")
      member.1.write(to: &output)
    }
    output.append(json: "}")
  }
}

/// Looking into what `JSONReader` has read. Of members with the same name the last counts.
extension JSONValue {
  /// The text of a string.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A number that is written without a fraction.
  public var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

  /// A number, whole or not.
  public var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// The member of an object; nil if this is none or it has no such member.
  public func member(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.0 == name }?.1
  }

  /// A member that is a string.
  public func string(_ name: String) -> String? {
    member(name)?.string
  }

  /// A member that is a number of seconds since 1970, whole or not; saturates.
  public func timestamp(_ name: String) -> Timestamp? {
    switch member(name) {
    case .integer(let seconds)?: return Timestamp(seconds: seconds)
    case .number(let seconds)?:
      let whole = seconds.rounded(.down)
      guard let exact = Int64(exactly: whole) else {
        return Timestamp(nanoseconds: seconds < 0 ? .min : .max)
      }
      return Timestamp(seconds: exact).adding(nanoseconds: Int64((seconds - whole) * 1e9))
    default: return nil
    }
  }

  /// A member that is an array of strings; nil if it is there but is something else, empty if it is absent.
  public func strings(_ name: String) -> [String]? {
    switch member(name) {
    case nil, .null?: return []
    case .array(let values)?:
      let texts = values.compactMap(\.string)
      return texts.count == values.count ? texts : nil
    default: return nil
    }
  }
}
