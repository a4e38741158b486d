import Emulator
import Platform
import PushModel

/// A `nats-server` with JetStream on loopback, with a folder of its own.
final class NATSServerProcess {
  let child: ChildProcess
  let url: String

  /// How often its port is looked for, and how long between, in microseconds: it does not say when it is ready.
  private static let attempts = 500
  private static let pause: UInt32 = 10_000

  /// `folder` is where it keeps its streams.
  init(folder: String) throws {
    guard mkdir(folder, 0o700) == 0 else { throw SocketError.last("make", folder) }
    // Debian has it where only root looks.
    child = try ChildProcess(
      "/bin/sh",
      [
        "-c", #"PATH=$PATH:/usr/sbin; exec nats-server "$@""#, "nats-server", "-js", "-sd",
        folder, "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder, "-l",
        "\(folder)/log",
      ])
    url = try Self.awaitURL("\(folder)/nats-server_\(child.pid).ports")
  }

  func stop() { child.stop() }

  /// NATS names its port in a file that is called after its process.
  private static func awaitURL(_ path: String) throws -> String {
    for _ in 0..<attempts {
      if let text = try? TextFile.read(path), case .array(let urls)? = JSONReader.read(text)?.member("nats"),
        case .string(let url)? = urls.first
      {
        return url
      }
      usleep(pause)
    }
    throw EmulatorError(
      .failed, "nats-server wrote no ports file; is it installed? .ci/install cluster does that")
  }
}
