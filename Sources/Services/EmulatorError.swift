/// Why the emulator can't start or go on, with the exit status that says so (`Documentation/configuration.md#exit-status`).
public struct EmulatorError: Error, CustomStringConvertible, Sendable {
  /// Exit status of the process.
  public enum Status: Int32, Sendable {
    case failed = 1
    case portInUse = 3
    case storeUnusable = 4
  }

  public var status: Status
  public var sentence: String

  public init(_ status: Status, _ sentence: String) { (self.status, self.sentence) = (status, sentence) }

  public var description: String { sentence }
}

/// Names this program's state for people and clients.
public enum EmulatorVersion {
  public static let current = "0.1.0"
}
