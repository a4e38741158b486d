import Cluster
import Platform
import PushModel
import Testing
import Zones

@testable import Emulator
@testable import Transport

/// Two nodes of one cluster on one loop, without an engine: who owns which zone is what the test says.
final class TwoNodes {
  /// Who owns what; the zone of `phone-7` is 7.
  final class Table {
    /// The name of the node, by zone.
    var owners: [Int: String] = [:]
    var peers: [String: NodePeer] = [:]
  }

  /// What one node knows of it.
  final class View: ClusterView {
    let name: String
    var secret = Array("the secret of a test".utf8)
    private let table: Table

    init(_ name: String, _ table: Table) { (self.name, self.table) = (name, table) }

    func zone(of udid: UDID) -> ZoneNumber {
      ZoneNumber(Int(udid.text.split(separator: "-").last ?? "") ?? 0)
    }

    func seat(of zone: ZoneNumber) -> ZoneSeat {
      guard let owner = table.owners[zone.number] else { return .nowhere }
      return owner == name ? .here : table.peers[owner].map { .at($0) } ?? .nowhere
    }
  }

  let table = Table()
  let (a, b): (EmulatorHarness, EmulatorHarness)
  let (viewA, viewB): (View, View)

  init(_ configure: (inout EmulatorOptions) -> Void = { _ in }) throws {
    let loop = try #require(EventLoop())
    (viewA, viewB) = (View("node-a", table), View("node-b", table))
    a = try EmulatorHarness(loop: loop, configure, prepare: { [viewA] in _ = $0.join(viewA) })
    b = try EmulatorHarness(loop: loop, configure, prepare: { [viewB] in _ = $0.join(viewB) })
    for (name, node) in [("node-a", a), ("node-b", b)] {
      table.peers[name] = NodePeer(name: name, address: try node.address("nodes"))
    }
    (table.owners[1], table.owners[2]) = ("node-b", "node-a")
  }

  var nodesA: NodesService { get throws { try #require(a.emulator.nodes) } }
  var nodesB: NodesService { get throws { try #require(b.emulator.nodes) } }
  var peerB: NodePeer { get throws { try #require(table.peers["node-b"]) } }
}
