import Foundation

/// A folder for this user alone that lives as long as this object.
package final class ScratchFolder: Sendable {
  package let path: String

  /// Without one no test can go on.
  package init() {
    path = FileManager.default.temporaryDirectory.appending(path: "apns-emulator-\(UUID().uuidString)")
      .path(percentEncoded: false)
    do {
      try FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      fatalError("\(error)")
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  package func file(_ name: String) -> String { path + "/" + name }

  /// Another folder with what this one holds at the moment: what a killed process leaves behind.
  package func copied() throws -> ScratchFolder {
    let copy = ScratchFolder()
    try copy.copy(from: self)
    return copy
  }

  /// Takes over what another one holds at the moment.
  package func copy(from other: ScratchFolder) throws { try copy(from: other.path) }

  /// Takes over what the folder at `path` holds at the moment.
  package func copy(from path: String) throws {
    // SQLite makes the index of its log again.
    for name in try FileManager.default.contentsOfDirectory(atPath: path) where !name.hasSuffix("-shm") {
      try? FileManager.default.removeItem(atPath: file(name))
      try FileManager.default.copyItem(atPath: path + "/" + name, toPath: file(name))
    }
  }

  package func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: URL(filePath: file(name)))
  }

  package func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: file(name)))
  }

  /// Permission bits of a file or folder in it; nil if it is not there.
  package func mode(of name: String) -> Int? {
    (try? FileManager.default.attributesOfItem(atPath: file(name)))?[.posixPermissions] as? Int
  }

  /// In bytes; 0 if it is not there.
  package func size(of name: String) -> Int {
    (try? FileManager.default.attributesOfItem(atPath: file(name)))?[.size] as? Int ?? 0
  }
}
