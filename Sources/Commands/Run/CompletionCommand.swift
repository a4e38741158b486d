/// `completion`: a script for one shell.
enum CompletionCommand {
  static func run(_ settings: Settings) throws -> ExitStatus {
    let shell = settings.arguments.first.flatMap { CompletionScript.Shell(rawValue: $0) } ?? .bash
    try Output.line(CompletionScript.text(shell, CommandTable.commands))
    return .success
  }
}
