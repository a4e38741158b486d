import Emulator
import Platform
import PushModel
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
    let nats = try NATSServerProcess(folder: "\(site.folder)/\(name)-engine")
    let nodes = try (0..<2).map {
      try ServerProcess(
        site: site, data: "\(site.folder)/\(name)-\(Self.name($0))",
        extra: ["--nats", nats.url, "--node", Self.name($0), "--zones", "\(zones)"] + extra)
    }
    guard let zoneMap = ZoneMap(count: zones) else { throw EmulatorError(.failed, "\(zones) zones can't be") }
    (self.nats, self.nodes, self.zoneMap) = (nats, nodes, zoneMap)
    leaders = try Self.awaitSpread(nodes[0], zones)
  }

  /// The index of the node that decides on the token's pushes.
  func leader(of token: DeviceToken) -> Int {
    token.bytes.withUnsafeBytes { leaders[zoneMap.zone(ofUnknown: $0).number] }
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
      let leaders = try leaders(node)
      let second = leaders.count { $0 == 1 }
      if leaders.count == zones, second >= zones / 2 { return leaders }
      usleep(pause)
    }
    throw EmulatorError(.failed, "the zones were not spread over two nodes")
  }

  private static func leaders(_ node: ServerProcess) throws -> [Int] {
    guard case .array(let zones)? = try node.ask("/api/v1/cluster")?.member("zones") else { return [] }
    return zones.compactMap { zone in
      guard case .string(let leader)? = zone.member("owner"), case .bool(false)? = zone.member("moving")
      else { return nil }
      return (0..<2).first { name($0) == leader }
    }
  }
}
