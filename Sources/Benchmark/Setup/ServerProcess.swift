import Basics
import Emulator
import Platform
import Services

/// The emulator as users run it, started as `serve`.
final class ServerProcess {
  /// From start to `ready`, in nanoseconds.
  let startTime: Int64
  let child: ChildProcess
  let portsFile: String
  private let ports: [String: UInt16]

  /// Starts it on free ports and waits for `ready`.
  init(site: BenchmarkSite, data: String, extra: [String] = []) throws {
    portsFile = "\(data).ports.json"
    let off = ["gateway", "feedback", "provider", "courier", "console"].flatMap { ["--\($0)-port", "0"] }
    let began = SystemClock.now()
    child = try ChildProcess(
      emulator: [
        "serve", "--certs", site.certs.path, "--data", data, "--token-seed", BenchmarkSite.seed,
        "--ports-file", portsFile,
        "--log-level", "warning",
      ] + off + extra)
    try Self.awaitReady(child)
    startTime = SystemClock.now().nanoseconds(since: began)
    ports = try Self.read(portsFile)
  }

  private static func awaitReady(_ child: ChildProcess) throws {
    var said: [String] = []
    while let line = child.nextLine() {
      if line == "ready" { return }
      said.append(line)
    }
    throw EmulatorError(.failed, "serve did not become ready: \(said.joined(separator: " / "))")
  }

  func address(_ listener: String) throws -> SocketAddress {
    guard let port = ports[listener] else {
      throw SocketError(operation: "find", address: listener, sentence: "the emulator did not open it")
    }
    return SocketAddress(host: "127.0.0.1", port: port)
  }

  var residentBytes: Int { ProcessStatus.residentBytes(child.pid) ?? 0 }

  func stop() { child.stop() }

  /// Ports by the names of their listeners.
  private static func read(_ path: String) throws -> [String: UInt16] {
    guard case .object(let members)? = JSONReader.read(try TextFile.read(path)) else {
      throw EmulatorError(.failed, "\(path) is not a ports file")
    }
    return Dictionary(
      members.compactMap { name, value in
        guard case .integer(let port)? = value.member("port") else { return nil }
        return UInt16(exactly: port).map { (name, $0) }
      }, uniquingKeysWith: { $1 })
  }
}

extension ChildProcess {
  /// Starts the emulator's program, which lies beside this one.
  convenience init(emulator words: [String]) throws {
    guard let path = OwnProgram.beside("apns-emulator") else {
      throw EmulatorError(
        .failed, "there is no apns-emulator in \(OwnProgram.folder); make bench builds both programs")
    }
    try self.init(path, words)
  }
}
