import Cluster
import Foundation
import Node
import Platform
import PushModel
import Testing
import Zones

import Emulator
import Transport

/// Two nodes of one cluster, on one loop unless they need two, without a NATS server: who owns which zone is what the test says.
final class TwoNodes {
  /// Who owns what; the zone of `phone-7` is 7.
  final class Table {
    /// The name of the node, by zone.
    var leaders: [Int: String] = [:]
    var peers: [String: NodePeer] = [:]
  }

  /// What one node knows of it.
  final class View: ClusterView {
    let name: String
    let ordinal: UInt64
    var secret = Array("the secret of a test".utf8)
    /// What it takes for true, by zone, whatever is.
    var believes: [Int: ZoneSeat] = [:]
    var isSettled: Bool { true }
    var peers: [NodePeer] { table.peers.values.filter { $0.name != name } }
    var missing: [String] { [] }
    func hasLeft(_ node: String) -> Bool { false }
    private let table: Table

    init(_ name: String, _ ordinal: UInt64, _ table: Table) {
      (self.name, self.ordinal, self.table) = (name, ordinal, table)
    }

    /// As a node does that joins the cluster of an engine.
    func join(_ emulator: Emulator) {
      emulator.broker.history.countIds(from: ClusterMembership.idBase(of: ordinal))
      emulator.broker.history.nodeName = name
    }

    func zone(of udid: UDID) -> ZoneNumber {
      ZoneNumber(Int(udid.text.split(separator: "-").last ?? "") ?? 0)
    }

    func seat(of zone: ZoneNumber) -> ZoneSeat {
      if let belief = believes[zone.number] { return belief }
      guard let leader = table.leaders[zone.number] else { return .nowhere }
      return leader == name ? .here : table.peers[leader].map { .at($0) } ?? .nowhere
    }
  }

  let table = Table()
  let (a, b): (EmulatorHarness, EmulatorHarness)
  let (viewA, viewB): (View, View)

  /// With `folder` each has a store and a loop of its own, which turn together.
  init(folder: String? = nil, _ configure: (inout ServeOptions) -> Void = { _ in }) throws {
    let loop = folder == nil ? EventLoop() : nil
    let data = { (name: String) in folder.map { "\($0)/\(name)" } }
    (viewA, viewB) = (View("node-a", 3, table), View("node-b", 5, table))
    a = try EmulatorHarness(data: data("a"), loop: loop, among: viewA, configure, prepare: viewA.join)
    b = try EmulatorHarness(data: data("b"), loop: loop, among: viewB, configure, prepare: viewB.join)
    if folder != nil { (a.companion, b.companion) = (b, a) }
    for (view, node) in [(viewA, a), (viewB, b)] {
      table.peers[view.name] = NodePeer(
        name: view.name, address: try node.address("nodes"), ordinal: view.ordinal)
    }
    (table.leaders[1], table.leaders[2]) = ("node-b", "node-a")
  }

  var nodesA: NodesService { get throws { try #require(a.emulator.nodes) } }
  var nodesB: NodesService { get throws { try #require(b.emulator.nodes) } }
  var peerB: NodePeer { get throws { try #require(table.peers["node-b"]) } }
}

/// With `APNS_TEST_EDGE` in the environment the devices of every harness come by another node, so that all that is tested of devices
/// is tested through the relay:
///
///     APNS_TEST_EDGE=1 swift test --filter Courier
final class TestEdge {
  static let isWanted = ProcessInfo.processInfo.environment["APNS_TEST_EDGE"] != nil

  /// What the edge, or the node behind it, knows of the cluster: all zones are that node's.
  private final class View: ClusterView {
    let name: String
    let ordinal: UInt64 = 1
    let secret: [UInt8] = [1]
    var leader: NodePeer?
    var isSettled: Bool { true }
    var peers: [NodePeer] { [] }
    var missing: [String] { [] }
    func hasLeft(_ node: String) -> Bool { false }

    init(_ name: String) { self.name = name }
    func zone(of udid: UDID) -> ZoneNumber { ZoneNumber(0) }
    func seat(of zone: ZoneNumber) -> ZoneSeat { leader.map { .at($0) } ?? .here }
  }

  private let emulator: Emulator

  /// What an emulator knows of the node in front of it; nil if there is to be none.
  static func makeView() -> (any ClusterView)? { isWanted ? View("owner") : nil }

  /// An emulator in front of another, on its loop.
  init?(of leader: Emulator, _ options: ServeOptions) throws {
    guard leader.nodes?.cluster is View, let address = leader.ports["nodes"] else { return nil }
    var options = options
    options.listeners = ListenerOptions(protocols: .off)
    (options.listeners.courier, options.files.isEphemeral) = (.number(0), true)
    (options.capture, options.forward, options.hooks, options.files.seedData) = (nil, nil, [], nil)
    let view = View("edge")
    view.leader = NodePeer(name: "owner", address: address)
    emulator = try Emulator(options: options, loop: leader.loop, among: view)
    try emulator.start()
  }

  /// Where devices connect.
  var courier: SocketAddress? { emulator.ports["courier"] }

  func end() {
    emulator.listeners.stopAccepting()
    emulator.listeners.abort("the test is over")
  }
}
