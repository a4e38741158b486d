/// A command could not do what it was asked for.
package struct CommandFailure: Error, Equatable, CustomStringConvertible {
  /// A sentence without a full stop.
  package let message: String
  let status: ExitStatus

  package init(_ message: String, status: ExitStatus = .failure) {
    (self.message, self.status) = (message, status)
  }

  package var description: String { message }
}

/// The command line, the environment or the configuration file says something that makes no sense.
package struct UsageError: Error, Equatable, CustomStringConvertible {
  /// A lower-case sentence without a full stop.
  package let message: String
  /// Whose help would answer; empty for the program's own.
  let command: String

  package init(_ message: String, command: String = "") { (self.message, self.command) = (message, command) }

  package var description: String { message }

  /// Where to read more.
  package var hint: String {
    command.isEmpty ? "run apns-emulator --help for the commands" : "run apns-emulator \(command) --help"
  }
}

/// How the program ends (`Documentation/configuration.md#exit-status`).
package struct ExitStatus: RawRepresentable, Equatable, Sendable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Fine.
  package static let success = ExitStatus(rawValue: 0)
  /// Failed, or a push was rejected.
  package static let failure = ExitStatus(rawValue: 1)
  /// The command line makes no sense.
  static let usage = ExitStatus(rawValue: 2)
  /// The command under `exec --advice=LEVEL` was fine, and there is advice of that level.
  static let advised = ExitStatus(rawValue: 5)
}
