import Foundation
import Platform
import Transport

/// A nats-server with JetStream on a free port of loopback, in a folder of its own.
final class NATSServer {
  static let isInstalled = path != nil
  private static let path = [
    "/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server",
    "/opt/homebrew/bin/nats-server",
  ]
  .first { FileManager.default.isExecutableFile(atPath: $0) }

  struct Failure: Error { let sentence: String }

  let folder: URL
  private(set) var port: UInt16 = 0
  private var process = Process()
  private let flags: [String]

  /// With flags and lines of a configuration of its own.
  init(_ flags: [String] = [], jetStream: Bool = true, configuration: String? = nil) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "nats-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    var flags = flags
    if jetStream { flags += ["-js", "-sd", folder.path] }
    if let configuration {
      let file = folder.appending(path: "nats.conf")
      try Data(configuration.utf8).write(to: file)
      flags += ["-c", file.path]
    }
    self.flags = flags
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  var address: SocketAddress { SocketAddress(host: "127.0.0.1", port: port) }

  /// Starts it, on the port that it had before.
  func start() throws {
    guard let path = Self.path else { throw Failure(sentence: "nats-server is missing") }
    process = Process()
    process.executableURL = URL(filePath: path)
    process.arguments =
      [
        "-a", "127.0.0.1", "-p", port == 0 ? "-1" : "\(port)", "--ports_file_dir", folder.path,
      ]
      + flags
    (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
    try process.run()
    let file = folder.appending(path: "nats-server_\(process.processIdentifier).ports")
    let deadline = Date(timeIntervalSinceNow: 20)
    while true {
      if let found = try? JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: [String]],
        let url = found["nats"]?.first.flatMap({ URL(string: $0) }), let port = url.port
      {
        self.port = UInt16(port)
        return
      }
      guard process.isRunning, Date() < deadline else { throw Failure(sentence: "nats-server did not start") }
      usleep(5000)
    }
  }

  /// Has it stand still, and go on.
  func setStanding(_ isStanding: Bool) {
    Foundation.kill(process.processIdentifier, isStanding ? SIGSTOP : SIGCONT)
  }

  /// kill -9.
  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
