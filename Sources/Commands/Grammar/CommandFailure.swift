/// A command could not do what it was asked for.
struct CommandFailure: Error, Equatable, CustomStringConvertible {
  /// A sentence without a full stop.
  let message: String
  let status: ExitStatus

  init(_ message: String, status: ExitStatus = .failure) {
    (self.message, self.status) = (message, status)
  }

  var description: String { message }
}
