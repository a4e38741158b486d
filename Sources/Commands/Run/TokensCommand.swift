import PushModel

/// `tokens`: the mapping table of a running emulator.
enum TokensCommand {
  static let flags: [any FlagDescription] = [CommonFlags.json, CommonFlags.portsFile]
  private static let columns = ["udid", "topic", "environment", "token", "state"]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let answer = try RunningEmulator(settings).ask("GET", "/api/v1/tokens")
    guard answer.status == 200, let document = JSONReader.read(answer.body),
      case .array(let rows)? = document["tokens"]
    else {
      throw CommandFailure(
        "the console answered \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
    }
    if settings.isOn(CommonFlags.json) {
      for row in rows { Output.line(row.text) }
    } else {
      for line in table(rows) { Output.line(line) }
    }
    return .success
  }

  private static func table(_ rows: [JSONValue]) -> [String] {
    let cells = [columns.map { $0.uppercased() }] + rows.map { row in columns.map { row[$0]?.string ?? "" } }
    let widths = columns.indices.map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { row in
      zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }.joined(separator: "  ")
    }
  }
}
