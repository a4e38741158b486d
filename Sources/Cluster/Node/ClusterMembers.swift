import NATSWire
import PushModel

/// Which nodes belong to the cluster, whether they live or not, by the cluster's log: who has joined, and has neither left in order
/// nor was forgotten since.
///
///     {"kind": "joined", "node": "b", "leaves": true}, {"kind": "left", "node": "b", "ordinal": 7}
///
/// The first versions wrote no `left`, nor `leaves`: who of them is missing has ended, for all that is known, and nobody misses it.
struct ClusterMembers {
  /// Most nodes that are remembered, as a count: as many as can live.
  static let limit = NodeBoard.limit

  /// By name, the number of its joining.
  private var ordinals: [String: UInt64] = [:]

  /// What a node writes that comes, and will say when it leaves.
  static func joined(_ node: String) -> JSONValue {
    ["kind": "joined", "node": .string(node), "leaves": true]
  }

  /// What a node writes that ends in order, or another one of a node that will not come back. The same node may have joined again:
  /// then that counts.
  static func left(_ node: String, ordinal: UInt64) -> JSONValue {
    ["kind": "left", "node": .string(node), "ordinal": .integer(Int64(clamping: ordinal))]
  }

  /// Takes a record of the cluster's log; what says nothing of nodes is passed over.
  mutating func read(_ record: JSONValue, at sequence: UInt64) {
    guard let node = record.string("node") else { return }
    switch record.string("kind") {
    case "joined":
      guard case .bool(true)? = record.member("leaves") else { return ordinals[node] = nil }
      ordinals[node] = sequence
      // Who joined first is likeliest not to come back.
      if ordinals.count > Self.limit, let oldest = ordinals.min(by: { $0.value < $1.value }) {
        ordinals[oldest.key] = nil
      }
    case "left":
      guard case .integer(let ordinal)? = record.member("ordinal"), let known = ordinals[node],
        known <= UInt64(clamping: ordinal)
      else { return }
      ordinals[node] = nil
    default: break
    }
  }

  /// Whether a node that speaks has left in order, as far as the log was read up to `last`. One that was forgotten and lives has not.
  func hasLeft(_ said: NodeAnnouncement, asOf last: UInt64) -> Bool {
    said.isDraining && last >= said.ordinal && ordinals[said.name] == nil
  }

  /// The number of its joining; nil for who does not belong to the cluster.
  subscript(node: String) -> UInt64? { ordinals[node] }

  /// By name.
  var names: [String] { ordinals.keys.sorted() }
}
