import Platform
import PushModel
import Zones

/// Another node, as far as one must know it to talk to it.
package struct NodePeer: Hashable, Sendable {
  package var name: String
  /// Of its nodes' listener.
  package var address: SocketAddress
  /// Counts the nodes that have joined: tells the node's lives apart, and is in the ids that it gives.
  package var ordinal: UInt64

  /// Who only connects to it need not know its ordinal.
  package init(name: String, address: SocketAddress, ordinal: UInt64 = 0) {
    (self.name, self.address, self.ordinal) = (name, address, ordinal)
  }
}

/// Where a zone is.
package enum ZoneSeat: Equatable, Sendable {
  /// This node leads it, and may answer for it.
  case here
  case at(NodePeer)
  /// Nobody leads it, or nobody knows yet who does.
  case nowhere
}

/// What the parts of a node ask about the cluster.
package protocol ClusterView: AnyObject {
  /// The zone that a device belongs to with all that it has.
  func zone(of udid: UDID) -> ZoneNumber
  func seat(of zone: ZoneNumber) -> ZoneSeat
  /// Whether no zone is on its way between nodes.
  var isSettled: Bool { get }
  /// The other nodes that live.
  var peers: [NodePeer] { get }
  /// Nodes that have joined, do not live, and have not left in order, by name.
  var missing: [String] { get }
  /// Whether a node has left in order: it ends in a moment, if it has not.
  func hasLeft(_ node: String) -> Bool
  /// What nodes of this cluster know and nobody else.
  var secret: [UInt8] { get }
  /// This node's name.
  var name: String { get }
  /// This node's ordinal (`ClusterMembership`).
  var ordinal: UInt64 { get }
}

/// Hears what becomes of a node of a cluster. All on the loop.
package protocol ClusterListener: AnyObject {
  /// The zone is leaving this node: its devices' sessions are to end now.
  func zoneParts(_ zone: ZoneNumber)
  /// Another node, or none, or this one leads some zones now.
  func seatsChanged()
  /// Everything of every zone is forgotten, by the cluster's word.
  func startedOver()
  /// Nothing can be promised any more, and why.
  func failed(_ sentence: String)
  /// Something that people should know.
  func tell(_ sentence: String, _ because: String?)
  /// What keeps NATS from being of use, once each time; nil once that is over.
  func natsTrouble(_ trouble: ClusterTrouble?)
}

/// A zone as people see it.
package struct ZoneReport: Equatable, Sendable {
  package var zone: ZoneNumber
  package var seat: ZoneSeat
  /// The node that leads it, or did last; nil in a new log.
  package var leader: String?
  package var epoch: UInt64
  /// The last record that this node has read or written.
  package var sequence: UInt64
  /// Changes that wait for their record, in bytes.
  package var waitingBytes: Int
  package var isMoving: Bool
  package var trouble: String?
}
