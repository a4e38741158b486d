import Credentials
import Foundation
import Platform
import PushModel

/// The root and its certificates for servers and devices, made once in a process and given to each of its emulators: RSA
/// keys take most of a start's time.
enum SharedCA {
  private static let names = [
    "ca.pem", "ca.key", "server.pem", "server.key", "server-ec.pem", "server-ec.key", "device-ca.pem",
    "device-ca.key",
  ]
  private static let files = Result { try make() }

  /// Puts them into a folder of certificates that is not there yet.
  static func write(into path: String) throws {
    mkdir(path, 0o700)
    for (name, bytes) in try files.get() {
      try FileReplacement("\(path)/\(name)").write(bytes, permissions: 0o600, isSecret: true)
    }
  }

  private static func make() throws -> [(name: String, bytes: [UInt8])] {
    let folder = try TemporaryFolder().path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try CertsFolder(path: folder).prepare(now: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
    return try names.map { ($0, try TextFile.read("\(folder)/\($0)")) }
  }
}
