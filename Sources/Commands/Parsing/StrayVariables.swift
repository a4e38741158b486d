/// Variables that look as if they were meant for this program and that nobody reads.
enum StrayVariables {
  private static let prefix = "APNS_EMULATOR_"
  /// What `exec` tells its command, and `--config`, which is no setting itself.
  private static let told = [
    "GATEWAY", "FEEDBACK", "PROVIDER", "COURIER", "CONSOLE", "CA", "CERTS", "PORTS_FILE", "ACCESS", "CONFIG",
  ]
  /// What our own tests read.
  private static let tests = ["BINARY", "FUZZ"]

  /// One sentence for each, in the order of their names. Values are left out: one may be a secret.
  static func warnings(_ environment: [String: String], _ commands: [CommandDescription]) -> [String] {
    let settings = commands.flatMap(\.flags).filter(\.isSetting).map(\.environmentName)
    let known = Set(told.map { prefix + $0 } + settings)
    let stray = environment.keys.filter { $0.hasPrefix(prefix) && !known.contains($0) && !isOfTests($0) }
    let candidates = known.map { String($0.dropFirst(prefix.count)) }.sorted()
    return stray.sorted().map { name in
      // Compared without what all have in common.
      let near = Suggestion.nearest(to: String(name.dropFirst(prefix.count)), among: candidates)
      return "nobody reads the variable \(name)" + (near.map { "; did you mean \(prefix)\($0)?" } ?? "")
    }
  }

  private static func isOfTests(_ name: String) -> Bool {
    tests.contains { name == prefix + $0 || name.hasPrefix(prefix + $0 + "_") }
  }
}
