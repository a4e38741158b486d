import Platform

/// `config`: each setting of `serve` with its value and where it came from.
package enum ConfigCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    for line in lines(settings) { try Output.line(line) }
    return .success
  }

  /// One line a setting, aligned.
  package static func lines(_ settings: Settings) -> [String] {
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

/// `man`: a manual page, for `man -l`, or all of them as packages have them.
enum ManCommand {
  private static let folder = Flag("out", .folder, "write the pages of all commands there, as NAME.1")
  static let flags: [any FlagDescription] = [folder]
  static let arguments = [
    Argument(
      ValueKind<String>("COMMAND", expects: "the name of a command, such as serve or certs-push") { word in
        page(of: word) == nil ? nil : word
      }, "the command, its words joined by dashes (default: the whole program)"
    ).optional
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    if let folder = settings[folder] {
      for page in ManPage.all(CommandTable.commands) {
        let text = page.text(version: Program.version)
        try TextFile.write("\(folder)/\(page.name).1", Array(text.utf8))
      }
    } else if let page = page(of: settings.arguments.first ?? "") {
      try Output.line(page.text(version: Program.version))
    }
    return .success
  }

  private static func page(of word: String) -> ManPage? {
    let name = "apns-emulator" + (word.isEmpty ? "" : "-\(word)")
    return ManPage.all(CommandTable.commands).first { $0.name == name }
  }
}
