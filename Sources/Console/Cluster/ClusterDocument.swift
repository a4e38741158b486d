import PushModel

/// A cluster as the API shows it.
extension ClusterReport: JSONAnswer {
  public static let shape = JSONShape<ClusterReport>([
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
  public static let shape: JSONShape<ClusterReport.NATSStatus> = [
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
  public static let shape = JSONShape<ClusterReport.Zone>([
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
