/// Why the emulator can't start or go on, with the exit status that says so (`Documentation/commands.md#exit-status`).
package struct EmulatorError: Error, CustomStringConvertible, Sendable {
  /// Exit status of the process.
  package enum Status: Int32, Sendable {
    case failed = 1
    case portInUse = 3
    case storeUnusable = 4
  }

  package var status: Status
  package var sentence: String

  package init(_ status: Status, _ sentence: String) { (self.status, self.sentence) = (status, sentence) }

  package var description: String { sentence }
}

/// Names this program's state for people and clients.
package enum EmulatorVersion {
  package static let current = "0.1.0"
}
