/// A JSON document for building answers: objects keep their order, and bytes that are already JSON pass through.
package enum JSONValue: Sendable, ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
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

  package init(stringLiteral value: String) { self = .string(value) }
  package init(integerLiteral value: Int64) { self = .integer(value) }
  package init(booleanLiteral value: Bool) { self = .bool(value) }
  package init(nilLiteral: ()) { self = .null }
  package init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  package init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements) }

  /// `value` as its type says, or null.
  package static func optional(_ value: (some JSONShown)?) -> JSONValue { value.json }

  /// The document as UTF-8 without white space.
  package var encoded: [UInt8] {
    var output: [UInt8] = []
    write(to: &output)
    return output
  }

  /// The document as text without white space.
  package var text: String { String(decoding: encoded, as: UTF8.self) }

  private func write(to output: inout [UInt8]) {
    switch self {
    case .null: output.append(contentsOf: "null".utf8)
    case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): output.append(contentsOf: String(value).utf8)
    case .number(let value): output.append(contentsOf: (value.isFinite ? "\(value)" : "null").utf8)
    case .string(let value): Self.write(value, to: &output)
    case .array(let values): Self.write(values, to: &output)
    case .object(let members): Self.write(members, to: &output)
    case .verbatim(let bytes): output.append(contentsOf: bytes)
    }
  }

  private static func write(_ values: [JSONValue], to output: inout [UInt8]) {
    output.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      value.write(to: &output)
    }
    output.append(UInt8(ascii: "]"))
  }

  private static func write(_ members: [(String, JSONValue)], to output: inout [UInt8]) {
    output.append(UInt8(ascii: "{"))
    for (index, member) in members.enumerated() {
      if index > 0 { output.append(UInt8(ascii: ",")) }
      write(member.0, to: &output)
      output.append(UInt8(ascii: ":"))
      member.1.write(to: &output)
    }
    output.append(UInt8(ascii: "}"))
  }

  private static func write(_ string: String, to output: inout [UInt8]) {
    var string = string
    output.append(UInt8(ascii: "\""))
    string.withUTF8 { text in
      if JSONText.isPlain(UnsafeRawBufferPointer(text)) {
        output.append(contentsOf: text)
      } else {
        writeEscaped(text, to: &output)
      }
    }
    output.append(UInt8(ascii: "\""))
  }

  private static func writeEscaped(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(contentsOf: [UInt8(ascii: "\\"), byte])
      case 0x0a: output.append(contentsOf: "\\n".utf8)
      case 0x0d: output.append(contentsOf: "\\r".utf8)
      case 0x09: output.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7f: output.append(contentsOf: "\\u00\(Hex.encode([byte]))".utf8)
      default: output.append(byte)
      }
    }
  }
}

/// Looking into what `JSONReader` has read. Of members with the same name the last counts.
extension JSONValue {
  /// The text of a string.
  package var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A number that is written without a fraction.
  package var integer: Int64? { if case .integer(let number) = self { number } else { nil } }

  /// A number, whole or not.
  package var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// The member of an object; nil if this is none or it has no such member.
  package func member(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.0 == name }?.1
  }

  /// A member that is a string.
  package func string(_ name: String) -> String? {
    member(name)?.string
  }

  /// A member that is a number of seconds since 1970, whole or not; saturates.
  package func timestamp(_ name: String) -> Timestamp? {
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
  package func strings(_ name: String) -> [String]? {
    switch member(name) {
    case nil, .null?: return []
    case .array(let values)?:
      let texts = values.compactMap(\.string)
      return texts.count == values.count ? texts : nil
    default: return nil
    }
  }
}
