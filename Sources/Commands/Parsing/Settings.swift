import Basics

/// The values of one invocation's flags, each with where it came from: flag over environment over file over default.
package struct Settings: Sendable {
  /// Where a value came from.
  package enum Source: Equatable, Sendable {
    case flag
    case environment(String)
    case file(String)
    case standard

    var text: String {
      switch self {
      case .flag: "flag"
      case .environment(let name): "environment \(name)"
      case .file(let path): "file \(path)"
      case .standard: "default"
      }
    }
  }

  /// The texts of a flag, all from one source.
  struct Value: Equatable, Sendable {
    var texts: [String]
    var source: Source
  }

  var values: [String: Value] = [:]
  /// Words that are not flags.
  package var arguments: [String] = []
  /// What stands after `--`, or all words for another program.
  package var foreign: [String] = []

  /// The value of a flag; nil where there is none. The texts have been checked before.
  package subscript<Kind>(_ flag: Flag<Kind>) -> Kind? { all(flag).last }

  /// The values of a flag that may be repeated.
  package func all<Kind>(_ flag: Flag<Kind>) -> [Kind] {
    (values[flag.name]?.texts ?? []).compactMap { flag.kind.parse($0) }
  }

  /// Whether a toggle is on.
  package func isOn(_ flag: Flag<Bool>) -> Bool { self[flag] ?? false }

  /// Gives a flag the value that `text` stands for, as if it had been on the command line.
  mutating func say<Kind>(_ flag: Flag<Kind>, _ text: String) {
    values[flag.name] = Value(texts: [text], source: .flag)
  }

  /// Where the value of a flag came from.
  package func source(_ name: String) -> Source { values[name]?.source ?? .standard }
}

/// Variables that look as if they were meant for this program and that nobody reads.
package enum StrayVariables {
  private static let prefix = "APNS_EMULATOR_"
  /// What `exec` and `drill` tell their commands, and `--config`, which is no setting itself.
  private static let told = [
    "GATEWAY", "FEEDBACK", "PROVIDER", "COURIER", "CONSOLE", "PROXY", "CA", "CERTS", "PORTS_FILE", "ACCESS",
    "CONFIG", "TOKEN_FILE", "TOPIC", "CERT", "CERT_KEY", "P12", "KEY", "KEY_ID", "TEAM", "REPORT",
    "RUN",
    "DRILL_BASELINE", "DRILL_FOLDER",
    "DRILL_JOB",
  ]
  /// What our own tests read.
  private static let tests = ["BINARY", "FUZZ"]

  /// One sentence for each, in the order of their names. Values are left out: one may be a secret.
  package static func warnings(_ environment: [String: String], _ commands: [CommandDescription]) -> [String]
  {
    let settings = commands.flatMap(\.flags).filter(\.isSetting).map(\.environmentName)
    let known = Set(told.map { prefix + $0 } + settings)
    let stray = environment.keys.filter { $0.hasPrefix(prefix) && !known.contains($0) && !isOfTests($0) }
    let candidates = known.map { String($0.dropFirst(prefix.count)) }.sorted()
    return stray.sorted().map { name in
      // Compared without what all have in common.
      let near = Suggestion.nearest(to: String(name.dropFirst(prefix.count)), among: candidates)
      return "the unknown variable \(name) is ignored" + (near.map { "; did you mean \(prefix)\($0)?" } ?? "")
    }
  }

  private static func isOfTests(_ name: String) -> Bool {
    tests.contains { name == prefix + $0 || name.hasPrefix(prefix + $0 + "_") }
  }
}
