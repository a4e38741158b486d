import Basics
import Platform

/// Where the files of runs lie.
struct DrillFolder: Sendable {
  let path: String

  var tokens: String { path + "/tokens.txt" }
  var report: String { path + "/report.txt" }
  var capture: String { path + "/capture.ndjson" }
  /// What the emulator says, and what CMD says.
  var log: String { path + "/emulator.log" }
  var output: String { path + "/command.log" }
  var ports: String { path + "/ports.json" }

  /// Makes the folder; what an earlier run has left in it goes.
  init(_ path: String) throws {
    guard PathCalls.makeFolder(path, 0o755) != .refused, let absolute = PathCalls.absolute(path) else {
      throw DrillError("can't make the folder \(path.visible)")
    }
    self.path = absolute
    removeFiles()
  }

  private init(unmade path: String) { self.path = path }

  /// Removes the folder of an earlier run, if there is one and nothing else lies in it.
  static func remove(_ path: String) {
    DrillFolder(unmade: path).removeFiles()
    PathCalls.removeFolder(path)
  }

  private func removeFiles() {
    for file in [tokens, report, capture, log, output, ports] { PathCalls.remove(file) }
  }

  func write(_ file: DrillTokenFile) throws {
    let lines = file.tokens.map { Hex.encode($0) + "\n" }.joined()
    try TextFile.write(tokens, Array(lines.utf8))
  }
}

/// Drills can't go on: a lower-case sentence.
package struct DrillError: Error, CustomStringConvertible {
  package let description: String
  /// It is CMD that can't be run.
  package let isOfCommand: Bool

  package init(_ description: String, isOfCommand: Bool = false) {
    (self.description, self.isOfCommand) = (description, isOfCommand)
  }
}
