import Basics
import Emulator
import Platform
import PushModel
import Services
import Transport
import Zones

/// A NATS server and two nodes on this machine, their zones spread.
final class ClusterProcesses {
  let nats: NATSServerProcess
  let nodes: [ServerProcess]
  private let zoneMap: ZoneMap
  /// The index of each zone's node.
  private let leaders: [Int]

  /// How often the zones are looked at until they are spread, and how long between, in microseconds.
  private static let attempts = 300
  private static let pause: UInt32 = 100_000

  /// `name` tells its folders from those of others.
  init(_ name: String, site: BenchmarkSite, zones: Int = ZoneMap.defaultCount, extra: [String] = []) throws {
    let nats = try NATSServerProcess(folder: "\(site.folder)/\(name)-nats")
    let nodes = try (0..<2).map {
      try ServerProcess(
        site: site, data: "\(site.folder)/\(name)-\(Self.name($0))",
        extra: ["--nats", nats.url, "--node", Self.name($0), "--zones", "\(zones)"] + extra)
    }
    guard let zoneMap = ZoneMap(count: zones) else {
      throw EmulatorError(.failed, "a cluster can't have \(zones) zones")
    }
    (self.nats, self.nodes, self.zoneMap) = (nats, nodes, zoneMap)
    leaders = try Self.awaitSpread(nodes[0], zones)
  }

  /// The index of the node that decides on the token's pushes.
  func leader(of token: DeviceToken) -> Int {
    leaders[zoneMap.zone(ofUnknown: token.bytes.span).number]
  }

  /// The index of the node that the device belongs to.
  func leader(of udid: UDID) -> Int { leaders[zoneMap.zone(of: udid).number] }

  func stop() {
    for node in nodes { node.stop() }
    nats.stop()
  }

  private static func name(_ index: Int) -> String { "node-\(index + 1)" }

  /// Until every zone has a leader, and no node many more than another.
  private static func awaitSpread(_ node: ServerProcess, _ zones: Int) throws -> [Int] {
    for _ in 0..<attempts {
      let leaders = leaders(node)
      let second = leaders.count { $0 == 1 }
      if leaders.count == zones, second >= zones / 2 { return leaders }
      WorkerThread.sleep(microseconds: pause)
    }
    throw EmulatorError(.failed, "the two nodes did not share the zones in time")
  }

  private static func leaders(_ node: ServerProcess) -> [Int] {
    // It may be busy, and is asked again.
    guard let answer = try? HTTP1Client(node.address("console")).send("GET", "/api/v1/cluster"),
      case .array(let zones)? = JSONReader.read(answer.body)?.member("zones")
    else { return [] }
    return zones.compactMap { zone in
      guard case .string(let leader)? = zone.member("owner"), case .bool(false)? = zone.member("moving")
      else { return nil }
      return (0..<2).first { name($0) == leader }
    }
  }
}

/// A `nats-server` with JetStream on loopback, with a folder of its own.
final class NATSServerProcess {
  let child: ChildProcess
  let url: String

  /// How often its port is looked for, and how long between, in microseconds: it does not say when it is ready.
  private static let attempts = 500
  private static let pause: UInt32 = 10_000

  /// `folder` is where it keeps its streams.
  init(folder: String) throws {
    guard PathCalls.makeFolder(folder, 0o700) == .made else { throw SocketError.last("make", folder) }
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
      WorkerThread.sleep(microseconds: pause)
    }
    throw EmulatorError(
      .failed, "nats-server did not start; if it is missing, install it with: .ci/install cluster")
  }
}

/// Phones as users have them: the emulator's program, started as `fleet`.
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
      emulator: [
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
    throw EmulatorError(.failed, "fleet ended before its event \(event)")
  }
}
