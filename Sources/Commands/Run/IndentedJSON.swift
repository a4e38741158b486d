import PushModel

/// JSON for people: what fits on a line stays on one.
enum IndentedJSON {
  /// Longest line that is not broken, in bytes, its indentation left aside.
  private static let width = 100

  static func text(_ value: JSONValue, indent: String = "") -> String {
    let line = value.text
    guard line.utf8.count > width || indent.isEmpty else { return line }
    let inner = indent + "  "
    switch value {
    case .array(let values) where !values.isEmpty:
      return block("[", values.map { text($0, indent: inner) }, "]", indent)
    case .object(let members) where !members.isEmpty:
      return block(
        "{", members.map { "\(JSONValue.string($0.0).text): \(text($0.1, indent: inner))" }, "}", indent)
    default: return line
    }
  }

  private static func block(_ open: String, _ lines: [String], _ close: String, _ indent: String) -> String {
    "\(open)\n" + lines.map { "\(indent)  \($0)" }.joined(separator: ",\n") + "\n\(indent)\(close)"
  }
}
