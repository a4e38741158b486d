import Basics
import Drill
import Emulator

/// `drill --serve`: drills for a server that runs and does not end (`Documentation/drills.md#a-server-that-runs`).
enum DrillServeCommand {
  static let serve = Flag(
    "serve", .toggle, "run an emulator for a server that does not end; the console API begins drills")
  /// No setting: a variable of that name tells programs where an emulator is.
  private static let portsFile = Flag(
    ServeFlags.portsFile.name, .file, ServeFlags.portsFile.help)

  static let flags: [any FlagDescription] = [serve, portsFile] + ServeFlags.ports

  /// Refuses what makes no sense with `--serve`, or without it.
  static func check(_ settings: Settings, notFor others: [String]) throws {
    let isServing = settings.isOn(serve)
    let wrong = isServing ? others : flags.map(\.name)
    if let flag = wrong.first(where: { settings.source($0) == .flag }) {
      throw UsageError(
        isServing ? "--\(flag) can't be combined with --serve" : "--\(flag) needs --serve", command: "drill")
    }
    guard isServing else { return }
    guard settings.foreign.isEmpty else {
      throw UsageError("--serve runs no command: start your server with what it prints", command: "drill")
    }
    let listeners = ServeOptions(settings).listeners
    guard listeners.console != .off, listeners.courier != .off else {
      throw UsageError("--serve needs the console and the courier listener", command: "drill")
    }
  }

  /// Says what to tell the server, and runs until it is signalled.
  static func run(_ settings: Settings, _ options: DrillOptions, isJSON: Bool) throws -> ExitStatus {
    let serving = ServeOptions(settings)
    var served = DrillServerOptions()
    (served.listeners, served.portsFile) = (serving.listeners, serving.files.ports)
    let server = try DrillServer(options, served, signals: DrillSignals())
    let variables = try server.variables().sorted { $0.key < $1.key }
    if isJSON {
      try Output.line(JSONValue.object(variables.map { ($0.key, .string($0.value)) }).text)
    } else {
      for (name, value) in variables { try Output.line("\(name)=\(ShellWords.text([value]))") }
      // A shell reads these lines.
      try Output.line("# ready")
    }
    try server.run()
    return .success
  }
}
