import Foundation
import Platform

/// The program that was built along with these tests, run in a folder of its own.
struct BuiltProgram {
  let folder = FileManager.default.temporaryDirectory.appending(path: "apns-emulator-\(UUID())")
  let path: String

  struct NotFound: Error, CustomStringConvertible {
    let description = "there is no apns-emulator beside the tests"
  }

  /// With certificates in its folder, unless the test is about those.
  init(hasCerts: Bool = true) throws {
    path = try Self.find()
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    if hasCerts, let certs = Self.certs(path) {
      try FileManager.default.copyItem(at: certs, to: folder.appending(path: "certs"))
    }
  }

  /// Folder of the programs that were built along with these tests.
  static func products() throws -> String { URL(filePath: try find()).deletingLastPathComponent().path }

  private static func find() throws -> String {
    // On Linux the tests are a program beside it, on macOS a bundle that another program loads.
    let places = CommandLine.arguments.filter { $0.contains(".xctest") } + [OwnProgram.path]
    let candidates = places.flatMap { place in
      sequence(first: URL(filePath: place)) {
        $0.pathComponents.count > 2 ? $0.deletingLastPathComponent() : nil
      }
      .prefix(5).map { $0.appending(path: "apns-emulator").path() }
    }
    guard let found = candidates.first(where: isProgram) else { throw NotFound() }
    return found
  }

  private static let lock = NSLock()

  /// A certs folder beside the program, filled again once a run: making the keys takes longer than most tests.
  private static func certs(_ path: String) -> URL? {
    lock.withLock {
      let folder = URL(filePath: path).deletingLastPathComponent()
      let certs = folder.appending(path: "commands-tests-\(getpid())")
      if FileManager.default.fileExists(atPath: certs.path()) { return certs }
      for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path())) ?? []
      where name.hasPrefix("commands-tests-") {
        try? FileManager.default.removeItem(at: folder.appending(path: name))
      }
      let made = try? ForeignProgram.run(
        path, ["certs", "push", "--topic", "com.example.app", "--certs", certs.path()], folder: folder)
      return made?.status == 0 ? certs : nil
    }
  }

  private static func isProgram(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && !isFolder.boolValue
      && FileManager.default.isExecutableFile(atPath: path)
  }

  /// Runs the program with `words` in the folder.
  func run(_ words: String..., environment: [String: String] = [:]) throws -> ForeignProgram.Result {
    try ForeignProgram.run(path, words, environment: environment, folder: folder)
  }

  /// Runs a shell script under `exec`, with `emulator` in it for the program, and ended at its first failure.
  func exec(_ flags: [String] = [], script: String) throws -> ForeignProgram.Result {
    let preamble = "set -eu\nemulator='\(path)'\napi=http://${APNS_EMULATOR_CONSOLE:-}/api/v1\n"
    let words = ["exec"] + flags + ["--", "sh", "-c", preamble + script]
    return try ForeignProgram.run(path, words, folder: folder)
  }

  func remove() { try? FileManager.default.removeItem(at: folder) }
}
