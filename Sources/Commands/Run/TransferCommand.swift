import Basics
import Platform
import SavedState

/// `export` and `import`: the state of a running emulator as a document, which `serve --seed-data` reads too.
enum TransferCommand {
  static let flags: [any FlagDescription] = [CommonFlags.access, CommonFlags.portsFile]

  static func export(_ settings: Settings) throws -> ExitStatus {
    let text = IndentedJSON.text(try RunningEmulator(settings).document("/api/v1/export"))
    if let path = settings.arguments.first, path != "-" {
      try TextFile.write(path, Array((text + "\n").utf8))
    } else {
      try Output.line(text)
    }
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
    let answer = try emulator.document(
      "/api/v1/import", posting: part, timeout: importTime, with: "imported", about: place)
    guard case .object(let counts)? = answer["imported"] else { return [] }
    return counts.compactMap { kind, value in value.integer.map { (kind, $0) } }
  }
}
