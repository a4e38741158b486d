import Foundation

import Credentials

/// Credentials for all tests of a suite, as RSA keys are slow to make. Their folders go when the process ends.
enum RunCredentials {
  private static let lock = NSLock()
  /// Touched only while `lock` is held, but at the end of the process.
  nonisolated(unsafe) private static var made: [TemporaryCredentials] = []
  private static let removal: Void = { atexit { RunCredentials.made = [] } }()

  /// For a `static let` of a serialized suite: no two scenarios may use the same at a time.
  static func make() throws -> TemporaryCredentials {
    _ = removal
    let credentials = try TemporaryCredentials()
    lock.withLock { made.append(credentials) }
    return credentials
  }
}
