import Basics

/// Holds a value against a JSON Schema: as much of it as the description uses. An unknown word is a finding, so that none
/// is passed over.
struct SchemaCheck {
  /// By their names, for references.
  let schemas: JSONValue

  private static let words: Set<String> = [
    "$ref", "type", "enum", "oneOf", "anyOf", "not", "required", "properties", "additionalProperties",
    "minProperties", "maxProperties", "items", "minItems", "maxItems", "pattern", "minLength", "minimum",
    "maximum", "format",
    "description", "contentEncoding",
  ]

  /// What is wrong with the value, and where.
  func findings(_ value: JSONValue, _ schema: JSONValue, at place: String = "") -> [String] {
    var findings = schema.names.filter { !Self.words.contains($0) }.map { "\(place): unknown word \($0)" }
    if let name = schema["$ref"].string?.split(separator: "/").last {
      return findings + self.findings(value, schemas[String(name)], at: place)
    }
    findings += types(value, schema, place) + choices(value, schema, place)
    switch value {
    case .object: findings += members(value, schema, place)
    case .array(let values):
      if let least = schema["minItems"].integer, values.count < least { findings.append("\(place): too few") }
      if let most = schema["maxItems"].integer, values.count > most { findings.append("\(place): too many") }
      for (index, each) in values.enumerated() where !schema["items"].isNull {
        findings += self.findings(each, schema["items"], at: "\(place)[\(index)]")
      }
    case .string(let text): findings += texts(text, schema, place)
    case .integer(let number): findings += bounds(Double(number), schema, place)
    case .number(let number): findings += bounds(number, schema, place)
    default: break
    }
    return findings
  }

  /// Members, however deep, that the schema does not tell of although others may be there.
  func untold(_ value: JSONValue, _ schema: JSONValue, at place: String = "") -> [String] {
    if let name = schema["$ref"].string?.split(separator: "/").last {
      return untold(value, schemas[String(name)], at: place)
    }
    if schema["oneOf"].count > 0 {
      // A choice that does not fit tells of nothing.
      let fitting = schema["oneOf"].elements.filter { findings(value, $0, at: place).isEmpty }
      return fitting.flatMap { untold(value, $0, at: place) }
    }
    if case .array(let values) = value {
      return values.flatMap { untold($0, schema["items"], at: place + "[]") }
    }
    let told = schema["properties"]
    guard !told.isNull else { return [] }
    return value.names.flatMap { name in
      told.names.contains(name)
        ? untold(value[name], told[name], at: "\(place).\(name)") : ["\(place).\(name): not told of"]
    }
  }

  /// Members, however deep, that the schema tells of; those of a schema with a name once, wherever it stands.
  func members(_ schema: JSONValue, at place: String) -> Set<String> {
    guard schema["$ref"].isNull else { return [] }
    let parts = schema["oneOf"].elements + [schema["items"]]
    let deeper = parts.filter { !$0.isNull }.flatMap { members($0, at: place) }
    return schema["properties"].names.reduce(into: Set(deeper)) { members, name in
      members.insert("\(place).\(name)")
      members.formUnion(self.members(schema["properties"][name], at: "\(place).\(name)"))
    }
  }

  /// Those of them that the value has.
  func seen(_ value: JSONValue, _ schema: JSONValue, at place: String) -> Set<String> {
    if let name = schema["$ref"].string?.split(separator: "/").last {
      return seen(value, schemas[String(name)], at: String(name))
    }
    let choices = schema["oneOf"].elements.filter { findings(value, $0).isEmpty }
    var seen = Set(choices.flatMap { self.seen(value, $0, at: place) })
    for element in value.elements where !schema["items"].isNull {
      seen.formUnion(self.seen(element, schema["items"], at: place))
    }
    for name in value.names where schema["properties"].names.contains(name) {
      seen.insert("\(place).\(name)")
      seen.formUnion(self.seen(value[name], schema["properties"][name], at: "\(place).\(name)"))
    }
    return seen
  }

  private func types(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
    let names = schema["type"].string.map { [$0] } ?? schema["type"].elements.compactMap(\.string)
    guard !names.isEmpty else { return [] }
    let own: [String] =
      switch value {
      case .null: ["null"]
      case .bool: ["boolean"]
      case .integer: ["integer", "number"]
      case .number: ["number"]
      case .string: ["string"]
      case .array: ["array"]
      case .object: ["object"]
      case .verbatim: []
      }
    return own.contains(where: names.contains) ? [] : ["\(place): \(value.text) is no \(names)"]
  }

  private func choices(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
    var findings: [String] = []
    let fits = { (each: JSONValue) in self.findings(value, each, at: place).isEmpty }
    if schema["enum"].count >= 0, !schema["enum"].elements.contains(where: { $0.text == value.text }) {
      findings.append("\(place): \(value.text) is none of the words")
    }
    if schema["oneOf"].count >= 0, schema["oneOf"].elements.count(where: fits) != 1 {
      findings.append("\(place): \(value.text) is not one of the choices")
    }
    if schema["anyOf"].count >= 0, !schema["anyOf"].elements.contains(where: fits) {
      findings.append("\(place): \(value.text) is none of the choices")
    }
    if !schema["not"].isNull, fits(schema["not"]) { findings.append("\(place): \(value.text) is forbidden") }
    return findings
  }

  private func members(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
    let required = schema["required"].elements.compactMap(\.string)
    var findings = required.filter { !value.names.contains($0) }.map { "\(place): \($0) is missing" }
    if let least = schema["minProperties"].integer, value.names.count < least {
      findings.append("\(place): too few")
    }
    if let most = schema["maxProperties"].integer, value.names.count > most {
      findings.append("\(place): too many")
    }
    for name in value.names {
      if schema["properties"].names.contains(name) {
        findings += self.findings(value[name], schema["properties"][name], at: "\(place).\(name)")
      } else if schema["additionalProperties"].bool == false {
        findings.append("\(place).\(name): unknown")
      } else if !schema["additionalProperties"].isNull, schema["additionalProperties"].bool == nil {
        findings += self.findings(value[name], schema["additionalProperties"], at: "\(place).\(name)")
      }
    }
    return findings
  }

  private func texts(_ text: String, _ schema: JSONValue, _ place: String) -> [String] {
    var findings: [String] = []
    if let pattern = schema["pattern"].string {
      let match = (try? Regex(pattern)).flatMap { try? $0.firstMatch(in: text) }
      if match == nil { findings.append("\(place): \(text) is not as \(pattern)") }
    }
    if let least = schema["minLength"].integer, text.count < least { findings.append("\(place): too short") }
    if schema["format"].string == "date-time", Timestamp(rfc3339: text) == nil {
      findings.append("\(place): \(text) is no time")
    }
    return findings
  }

  private func bounds(_ number: Double, _ schema: JSONValue, _ place: String) -> [String] {
    let bound = { (name: String) in schema[name].integer.map(Double.init) ?? Self.number(schema[name]) }
    if let least = bound("minimum"), number < least { return ["\(place): \(number) is too small"] }
    if let most = bound("maximum"), number > most { return ["\(place): \(number) is too large"] }
    return []
  }

  private static func number(_ value: JSONValue) -> Double? {
    if case .number(let number) = value { number } else { nil }
  }
}
