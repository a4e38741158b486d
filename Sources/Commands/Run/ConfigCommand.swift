/// `config`: each setting of `serve` with its value and where it came from.
enum ConfigCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    for line in lines(settings) { try Output.line(line) }
    return .success
  }

  /// One line a setting, aligned.
  static func lines(_ settings: Settings) -> [String] {
    TextTable.lines(
      ServeFlags.all.filter(\.isSetting).map { flag in
        [flag.name, text(of: flag, settings), settings.source(flag.name).text]
      })
  }

  private static func text(of flag: any FlagDescription, _ settings: Settings) -> String {
    guard let texts = settings.values[flag.name]?.texts else { return flag.isToggle ? "false" : "-" }
    return flag.isSecret ? "(set)" : texts.joined(separator: ", ")
  }
}

/// `completion`: a script for one shell.
enum CompletionCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    let shell = settings.arguments.first.flatMap { CompletionScript.Shell(rawValue: $0) } ?? .bash
    try Output.line(CompletionScript.text(shell, CommandTable.commands))
    return .success
  }
}
