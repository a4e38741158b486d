import Foundation

/// A folder that lives as long as this object.
final class TemporaryFolder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "apns-emulator-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Another folder with what this one holds at the moment: what a killed process leaves behind.
  func copied() throws -> TemporaryFolder {
    let copy = try TemporaryFolder()
    try FileManager.default.removeItem(atPath: copy.path)
    try FileManager.default.copyItem(atPath: path, toPath: copy.path)
    return copy
  }
}
