import Credentials
import Emulator
import Platform
import Services

/// The whole program: words in, exit status out.
package enum Program {
  package static let version = EmulatorVersion.current

  /// Runs what the words (without the program's name) ask for, by a table of commands.
  package static func run(
    _ words: [String], _ commands: [CommandDescription] = CommandTable.commands
  ) -> Int32 {
    SignalMask.clear()
    StandardDescriptors.fill()
    do {
      return try perform(words, commands).rawValue
    } catch let error as UsageError {
      Output.complain("\(error.message) (\(error.hint))")
      return ExitStatus.usage.rawValue
    } catch let error as CommandFailure {
      if !error.message.isEmpty { Output.complain(error.message) }
      return error.status.rawValue
    } catch let error as EmulatorError {
      Output.complain(error.sentence)
      return error.status.rawValue
    } catch {
      Output.complain("\(error)")
      return ExitStatus.failure.rawValue
    }
  }

  private static func perform(
    _ words: [String], _ commands: [CommandDescription]
  ) throws -> ExitStatus {
    let parser = CommandLineParser(
      commands: commands, environment: ProcessEnvironment.variables, readFile: { try TextFile.read($0) })
    switch try parser.parse(words) {
    case .version: try Output.line("apns-emulator \(version)")
    case .help(let name):
      guard let text = HelpText.text(for: name, commands) else {
        throw UsageError("there is no command \"\(name)\"")
      }
      try Output.line(text)
    case .run(let command, let settings):
      // Another program looks at its variables itself.
      if !command.isElsewhere {
        StrayVariables.warnings(parser.environment, CommandTable.commands).forEach(Output.complain)
      }
      return try command.run(settings)
    }
    return .success
  }
}
