import Basics
import Transport

/// The cluster that this emulator is a node of, for people to look at and to act on. Implemented by the emulator.
package protocol ClusterBoard: AnyObject {
  var report: ClusterReport { get }
  /// Moves a zone that this node leads; answers why not, nil if it moves.
  func move(_ zone: Int, to node: String) -> String?
  /// Hands all zones of this node over, and ends it then.
  func drain()
  /// Ends this process as `kill -9` does, as soon as the answer that says so has left.
  func kill()
  /// Has all nodes not miss one any more that is missing; tells why that may not have come about, nil if it has.
  func forget(_ node: String, done: @escaping (_ failure: String?) -> Void)
}

/// A cluster as one of its nodes sees it.
package struct ClusterReport: Equatable, Sendable {
  /// The way to NATS.
  package struct NATSStatus: Equatable, Sendable {
    /// Its servers as they were given, without what logs in.
    package var servers: [String]
    package var isConnected: Bool
    /// Why it is of no use, whether it is there or not; nil while all is well.
    package var trouble: String?
    /// How long it has let this node wait for what it is to keep, in milliseconds.
    package var waitingMs: Int64

    package init(servers: [String], isConnected: Bool, trouble: String?, waitingMs: Int64) {
      (self.servers, self.isConnected) = (servers, isConnected)
      (self.trouble, self.waitingMs) = (trouble, waitingMs)
    }
  }

  /// A node that lives.
  package struct Node: Equatable, Sendable {
    package var name: String
    package var ordinal: UInt64
    /// Of its listener for nodes, and of its console; nil while that is not known.
    package var address: String?
    package var console: String?
    /// Zones that it leads and devices that are connected to it, as counts.
    package var ledCount: Int
    package var devices: Int
    package var isDraining: Bool

    package init(
      name: String, ordinal: UInt64, address: String?, console: String?, ledCount: Int, devices: Int,
      isDraining: Bool
    ) {
      (self.name, self.ordinal, self.address, self.console) = (name, ordinal, address, console)
      (self.ledCount, self.devices, self.isDraining) = (ledCount, devices, isDraining)
    }
  }

  /// Where a zone is.
  package enum Seat: String, CaseIterable, Sendable { case here, elsewhere, nowhere }

  package struct Zone: Equatable, Sendable {
    package var number: Int
    /// The node that leads it, or did last; nil for one that nobody has owned.
    package var leader: String?
    package var seat: Seat
    package var epoch: UInt64
    /// The last record of its log that this node knows.
    package var sequence: UInt64
    /// Changes that are not in the log yet.
    package var waitingBytes: Int
    package var isMoving: Bool
    package var trouble: String?

    package init(
      number: Int, leader: String?, seat: Seat, epoch: UInt64, sequence: UInt64, waitingBytes: Int,
      isMoving: Bool, trouble: String?
    ) {
      (self.number, self.leader, self.seat, self.epoch) = (number, leader, seat, epoch)
      (self.sequence, self.waitingBytes, self.isMoving, self.trouble) = (
        sequence, waitingBytes, isMoving, trouble
      )
    }
  }

  /// The node that says all this.
  package var name: String
  /// The cluster's name; nil for the one of NATS that has none.
  package var cluster: String?
  /// Why it is not ready; nil if it is.
  package var because: String?
  package var nats: NATSStatus
  package var nodes: [Node]
  /// Nodes that belong to the cluster and are missing, by name.
  package var missing: [String]
  /// By their numbers, from 0.
  package var zones: [Zone]

  package init(
    name: String, cluster: String? = nil, because: String?, nats: NATSStatus, nodes: [Node],
    missing: [String],
    zones: [Zone]
  ) {
    (self.name, self.cluster, self.because, self.nats) = (name, cluster, because, nats)
    (self.nodes, self.missing, self.zones) = (nodes, missing, zones)
  }
}

/// A cluster as the API shows it.
extension ClusterReport: JSONAnswer {
  package static let shape = JSONShape<ClusterReport>([
    "name": .show("node-1") { $0.name }, "cluster": .show { $0.cluster },
    "ready": .show(true) { $0.because == nil }, "because": .show { $0.because },
    "engine": .show { $0.nats },
    "zoneCount": .show(64) { $0.zones.count },
    "nodes": .list(of: Node.shape) { report in
      report.nodes.map { ($0, isThis: $0.name == report.name) }
    }, "missing": .show(["node-3"]) { $0.missing }, "zones": .show { $0.zones },
  ]).named("Cluster")
}

extension ClusterReport.NATSStatus: JSONAnswer {
  package static let shape: JSONShape<ClusterReport.NATSStatus> = [
    "servers": .show(["nats://127.0.0.1:4222"]) { $0.servers }, "connected": .show(true) { $0.isConnected },
    "because": .show { $0.trouble }, "waitingMs": .show(0) { $0.waitingMs },
  ]
}

extension ClusterReport.Node {
  static let shape = JSONShape<(node: ClusterReport.Node, isThis: Bool)>([
    "name": .show("node-1") { $0.node.name }, "ordinal": .show(2) { $0.node.ordinal },
    "address": .show("127.0.0.1:40125") { $0.node.address },
    "console": .show("127.0.0.1:8790") { $0.node.console }, "owned": .show(22) { $0.node.ledCount },
    "devices": .show(5) { $0.node.devices }, "draining": .show(false) { $0.node.isDraining },
    "isThis": .show(true) { $0.isThis },
  ]).named("ClusterNode")
}

extension ClusterReport.Seat: JSONWord {}

extension ClusterReport.Zone: JSONAnswer {
  package static let shape = JSONShape<ClusterReport.Zone>([
    "zone": .show(3) { $0.number }, "owner": .show("node-1") { $0.leader }, "seat": .show { $0.seat },
    "epoch": .show(1) { $0.epoch }, "sequence": .show(9) { $0.sequence },
    "waitingBytes": .show(0) { $0.waitingBytes }, "moving": .show(true) { $0.isMoving },
    "trouble": .show { $0.trouble },
  ]).named("ClusterZone")
}

/// What `POST …/zones/{zone}` takes.
struct ZoneMove: JSONDocument {
  /// The node that is to own the zone.
  var node = ""

  static let form = JSONForm<ZoneMove>([JSONField("node", .name, \.node).needed])
  static let schema = JSONSchema("ZoneMove", form.schema, example: ["node": "node-2"])
}

/// What becomes of a node.
struct NodeOrder: JSONAnswer {
  enum Deed: String, JSONWord { case drain, kill, forget }

  var node: String
  var deed: Deed

  static let shape = JSONShape<NodeOrder>([
    "node": .show("node-2") { $0.node }, "does": .show { $0.deed },
  ]).named("NodeOrder")
}
