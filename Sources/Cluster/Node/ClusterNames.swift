import NATSWire
import PushModel
import Zones

/// What a cluster's streams and subjects are called in NATS, so that several clusters can share one.
///
/// Without a name they are called as before there were names: `APNS_Z3`, `apns.log.3`. With one it goes in front of what tells them
/// apart: `APNS_blue_Z3`, `apns.blue.log.3`. No two clusters have one in common, as what is behind the name is the last word.
public struct ClusterNames: Equatable, Sendable {
  /// Longest name, in characters: it is in the name of a folder of the NATS server's, too.
  public static let limit = 32

  /// nil for the one that has no name.
  public let cluster: String?

  public init(_ cluster: String? = nil) { self.cluster = cluster }

  /// Whether this can be a cluster's name: letters, digits, `_` and `-`, which are a word of a subject.
  public static func isName(_ name: String) -> Bool {
    (1...limit).contains(name.count)
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
  }

  private func stream(_ word: String) -> String { "APNS_\(cluster.map { "\($0)_" } ?? "")\(word)" }
  private func subject(_ words: String) -> String { "apns.\(cluster.map { "\($0)." } ?? "")\(words)" }

  /// Of the cluster's own log.
  func orders(replicas: Int) -> JetStreamConfiguration {
    JetStreamConfiguration(name: stream("CLUSTER"), subject: subject("cluster"), replicas: replicas)
  }

  func log(of zone: ZoneNumber, replicas: Int) -> JetStreamConfiguration {
    JetStreamConfiguration(name: stream("Z\(zone)"), subject: subject("log.\(zone)"), replicas: replicas)
  }

  func snapshots(of zone: ZoneNumber, replicas: Int) -> JetStreamConfiguration {
    JetStreamConfiguration(name: stream("S\(zone)"), subject: subject("snapshot.\(zone)"), replicas: replicas)
  }

  /// Of what `cluster repair` has said.
  func repairs(replicas: Int) -> JetStreamConfiguration {
    JetStreamConfiguration(name: stream("REPAIRS"), subject: subject("repairs"), replicas: replicas)
  }

  /// Where nodes say that they live.
  var announcements: String { subject("nodes") }

  /// Where any node that lives says so when it is asked.
  var calls: String { subject("call") }

  /// The same of one node. Its name may have points where a subject must have none.
  func calls(of node: String) -> String { subject("call.\(Hex.encode(Array(node.utf8)))") }
}
