import Basics
import Drill

/// `drill --serve`: drills for a server that runs and does not end (`Documentation/drills.md#a-server-that-runs`).
enum DrillServeCommand {
  static let serve = Flag(
    "serve", .toggle, "run an emulator for a server that does not end; the console API begins drills")
  /// No setting: a variable of that name tells programs where an emulator is.
  private static let portsFile = Flag(
    ServeFlags.portsFile.name, .file, "with --serve, write the addresses to this file")

  static let flags: [any FlagDescription] = [serve, portsFile]

  /// Refuses what makes no sense with `--serve`, or without it.
  static func check(_ settings: Settings, notFor others: [String]) throws {
    let isServing = settings.isOn(serve)
    let wrong = isServing ? others : [portsFile.name]
    if let flag = wrong.first(where: { settings.source($0) == .flag }) {
      throw UsageError(
        isServing ? "--\(flag) can't be combined with --serve" : "--\(flag) needs --serve", command: "drill")
    }
    guard !isServing || settings.foreign.isEmpty else {
      throw UsageError("--serve runs no command: start your server with what it prints", command: "drill")
    }
  }

  /// Says what to tell the server, and runs until it is signalled.
  static func run(_ settings: Settings, _ options: DrillOptions, isJSON: Bool) throws -> ExitStatus {
    let server = try DrillServer(options, portsFile: settings[portsFile], signals: DrillSignals())
    try server.run { variables in
      for line in lines(variables.sorted { $0.key < $1.key }, isJSON: isJSON) { try Output.line(line) }
    }
    return .success
  }

  /// As a program reads them, or a shell.
  private static func lines(_ variables: [(key: String, value: String)], isJSON: Bool) -> [String] {
    guard !isJSON else { return [JSONValue.object(variables.map { ($0.key, .string($0.value)) }).text] }
    return variables.map { "\($0.key)=\(ShellWords.text([$0.value]))" } + ["# ready"]
  }
}
