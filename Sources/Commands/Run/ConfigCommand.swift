/// `config`: each setting of `serve` with its value and where it came from.
enum ConfigCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    let rows = ServeFlags.all.filter(\.isSetting).map { flag in
      let value = settings.values[flag.name]?.texts.joined(separator: ", ") ?? (flag.isToggle ? "false" : "-")
      return (
        flag.name, flag.name == ServeFlags.tokenSeed.name && value != "-" ? "(set)" : value,
        settings.source(flag.name).text
      )
    }
    let widths = (rows.map(\.0.count).max() ?? 0, rows.map(\.1.count).max() ?? 0)
    for (name, value, source) in rows {
      Output.line(pad(name, widths.0) + "  " + pad(value, widths.1) + "  " + source)
    }
    return .success
  }

  private static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}

/// `completion`: a script for one shell.
enum CompletionCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    let shell = settings.arguments.first.flatMap { CompletionScript.Shell(rawValue: $0) } ?? .bash
    Output.line(CompletionScript.text(shell, CommandTable.commands))
    return .success
  }
}
