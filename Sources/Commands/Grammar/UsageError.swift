/// The command line, the environment or the configuration file says something that makes no sense.
struct UsageError: Error, Equatable, CustomStringConvertible {
  /// A lower-case sentence without a full stop.
  let message: String
  /// Whose help would answer; empty for the program's own.
  let command: String

  init(_ message: String, command: String = "") { (self.message, self.command) = (message, command) }

  var description: String { message }

  /// Where to read more.
  var hint: String {
    command.isEmpty ? "run apns-emulator --help for the commands" : "run apns-emulator \(command) --help"
  }
}
