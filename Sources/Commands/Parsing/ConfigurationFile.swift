import PushModel

/// The JSON file given by `--config`: one object whose keys are the flags of `serve` without their dashes.
struct ConfigurationFile {
  let path: String
  private(set) var values: [String: [String]] = [:]

  /// Reads it; what is no object, or names an unknown key, is an error that says so.
  init(path: String, _ readFile: (String) throws -> [UInt8], known flags: [any FlagDescription]) throws {
    self.path = path
    let text = try readFile(path)
    if let problem = JSONReader.problem(of: text) {
      throw UsageError("\(path) is not JSON: \(problem)")
    }
    guard case .object(let members)? = JSONReader.read(text) else {
      throw UsageError("\(path) is not a JSON object")
    }
    let names = flags.filter(\.isSetting).map(\.name)
    for (name, value) in members {
      guard names.contains(name) else {
        let near = Suggestion.question(name, among: names)
        throw UsageError("\(path) has an unknown key \"\(name)\"" + near)
      }
      values[name] = try Self.texts(value, name, path)
    }
  }

  private static func texts(_ value: JSONValue, _ name: String, _ path: String) throws -> [String]? {
    switch value {
    case .null: nil
    case .string(let text): [text]
    case .bool(let flag): [flag ? "true" : "false"]
    case .integer(let number): [String(number)]
    case .number(let number): ["\(number)"]
    case .array(let elements): try elements.flatMap { try texts($0, name, path) ?? [] }
    case .object, .verbatim:
      throw UsageError("\(path): \(name) expects a text, a number or true or false, got an object")
    }
  }
}
