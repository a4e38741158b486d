import Platform
import PushModel
import Transport

/// `export` and `import`: the state of a running emulator as a document, which `serve --seed-data` reads too.
enum TransferCommand {
  static let flags: [any FlagDescription] = [CommonFlags.access, CommonFlags.portsFile]
  /// Deepest nesting of a state, as a count of levels: the console's bound.
  private static let depth = 64

  static func export(_ settings: Settings) throws -> ExitStatus {
    let answer = try RunningEmulator(settings).ask("GET", "/api/v1/export")
    guard answer.status == 200, let state = JSONReader.read(answer.body, maximumDepth: depth) else {
      throw RunningEmulator.refused(answer)
    }
    let text = IndentedJSON.text(state)
    guard let path = settings.arguments.first, path != "-" else {
      try Output.line(text)
      return .success
    }
    try TextFile.write(path, Array((text + "\n").utf8))
    return .success
  }

  static func `import`(_ settings: Settings) throws -> ExitStatus {
    let path = settings.arguments.first ?? "-"
    let answer = try RunningEmulator(settings).ask(
      "POST", "/api/v1/import", fields: [HTTPField("Content-Type", "application/json")],
      body: try TextFile.read(path))
    guard answer.status == 200, case .object(let counts)? = JSONReader.read(answer.body)?["imported"] else {
      throw RunningEmulator.refused(answer, about: path)
    }
    try Output.line(counts.map { "\($0.0): \($0.1.text)" }.joined(separator: ", "))
    return .success
  }
}
