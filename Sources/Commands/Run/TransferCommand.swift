import Console
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

  /// What is more than the console takes at once goes in parts.
  static func `import`(_ settings: Settings) throws -> ExitStatus {
    let path = settings.arguments.first ?? "-"
    let (emulator, parts) = (try RunningEmulator(settings), try parts(path))
    var sums: [(String, Int64)] = []
    for (index, part) in parts.enumerated() {
      let place = parts.count > 1 ? "\(path), part \(index + 1) of \(parts.count)" : path
      for (kind, count) in try send(part, to: emulator, place) {
        if let known = sums.firstIndex(where: { $0.0 == kind }) {
          sums[known].1 = sums[known].1.addingReportingOverflow(count).partialValue
        } else {
          sums.append((kind, count))
        }
      }
    }
    try Output.line(sums.map { "\($0.0): \($0.1)" }.joined(separator: ", "))
    return .success
  }

  private static func parts(_ path: String) throws -> [[UInt8]] {
    let bytes = try TextFile.read(path, limit: SeedData.limit)
    // What can't be read is for the console to refuse.
    guard let parts = try SavedStateParts.needed(for: bytes) else { return [bytes] }
    return parts.documents
  }

  /// How long a part may take, in nanoseconds: making 100 certificates takes half a minute, on a slow machine several.
  private static let importTime: Int64 = 600_000_000_000

  private static func send(
    _ part: [UInt8], to emulator: RunningEmulator, _ place: String
  ) throws -> [(String, Int64)] {
    let answer = try emulator.ask(
      "POST", "/api/v1/import", fields: [HTTPField("Content-Type", "application/json")], body: part,
      timeout: importTime)
    guard answer.status == 200, case .object(let counts)? = JSONReader.read(answer.body)?["imported"] else {
      throw RunningEmulator.refused(answer, about: place)
    }
    return counts.compactMap { if case .integer(let count) = $0.1 { ($0.0, count) } else { nil } }
  }
}
