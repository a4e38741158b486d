import Emulator
import Platform
import PushModel

/// Phones as users have them: this very program, started as `fleet`.
final class FleetProcess {
  private let child: ChildProcess
  /// Of each phone, in the order of their numbers.
  let tokens: [DeviceToken]

  /// Starts `count` phones at a server, and waits until each has its token. The process ends by itself when as many
  /// notifications have come as there are phones, if `endsWithOneEach`.
  init(
    _ name: String, of count: Int, at server: ServerProcess, site: BenchmarkSite,
    endsWithOneEach: Bool = false
  ) throws {
    let file = "\(site.folder)/\(name).tokens"
    child = try ChildProcess(
      ChildProcess.ownPath,
      [
        "fleet", "--devices", "\(count)", "--name", name, "--topic", BenchmarkSite.topic, "--rate", "1000",
        "--tokens", file, "--certs", site.certs.path, "--ports-file", server.portsFile, "--json",
      ] + (endsWithOneEach ? ["--count", "\(count)"] : []))
    try Self.await("ready", of: child)
    tokens = try String(decoding: TextFile.read(file), as: UTF8.self).split(separator: "\n").compactMap {
      line in
      line.split(separator: " ").first.flatMap { DeviceToken(hex: $0) }
    }
  }

  /// Waits until it has ended by itself.
  func awaitEnd() throws { try Self.await("summary", of: child) }

  func stop() { child.stop() }

  private static func await(_ event: String, of child: ChildProcess) throws {
    while let line = child.nextLine() {
      if case .string(let said)? = JSONReader.read(Array(line.utf8))?.member("event"), said == event {
        return
      }
    }
    throw EmulatorError(.failed, "fleet ended before it said \(event)")
  }
}
