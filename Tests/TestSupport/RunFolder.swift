import Basics
import Credentials
import Foundation

/// Folders of certificates for a whole run of tests, as RSA keys are slow to make. They go when the process ends.
package enum RunFolder {
  private static let lock = NSLock()
  /// Touched only while `lock` is held, but at the end of the process.
  nonisolated(unsafe) private static var paths: [String] = []
  private static let removal: Void = {
    atexit { for path in RunFolder.paths { try? FileManager.default.removeItem(atPath: path) } }
  }()

  /// Makes one with an authority and its certificates, valid from `now` on; answers its path. For a `static let`.
  package static func make(now: Timestamp) throws -> String {
    _ = removal
    let path = FileManager.default.temporaryDirectory.appending(
      path: "apns-emulator-run-\(UUID().uuidString)"
    )
    .path(percentEncoded: false)
    lock.withLock { paths.append(path) }
    try CertsFolder(path: path).prepare(now: now)
    return path
  }
}
