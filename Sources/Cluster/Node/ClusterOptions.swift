import Basics
import NATSWire
import Platform
import Transport
import Zones

/// What a node of several must be told.
package struct ClusterOptions: Equatable, Sendable {
  /// Most replicas that NATS keeps of a stream, as a count.
  package static let replicaLimit = 5

  /// NATS servers, tried in turn.
  package var natsServers: [NATSAddress]
  /// What its streams and subjects are called in NATS.
  package var names = ClusterNames()
  /// By which the others know this node; no two of a cluster have the same.
  package var node: String
  /// What the token map is cut into. A cluster that exists has its number for good, and is refused if this is another; nil takes
  /// what there is.
  package var zones: ZoneMap?
  /// How many NATS servers hold each log.
  package var replicas = 1
  /// A credentials file for NATS.
  package var credentials: String?
  /// A file with the NATS server's CA: it must have TLS then. Nil trusts whom the system trusts.
  package var ca: String?
  /// A file with the secret by which nodes know what they have written; nil where they believe whatever is in NATS.
  package var secret: String?
  /// Where the other nodes come in; 0 is any free port.
  package var nodePort: UInt16 = 0

  package init(natsServers: [NATSAddress], node: String = Self.defaultNode) {
    (self.natsServers, self.node) = (natsServers, node)
  }

  /// The host's name up to its first point: what StatefulSets and containers tell apart.
  package static var defaultNode: String {
    let name = HostName.own.prefix { $0 != "." }.filter { isNodeCharacter($0) }.prefix(nodeLimit)
    return name.isEmpty ? "node" : String(name)
  }

  /// Longest name, in characters.
  package static let nodeLimit = 63

  /// Whether this can be a node's name: letters, digits and any of `._-`.
  package static func isNode(_ name: String) -> Bool {
    (1...nodeLimit).contains(name.count) && name.allSatisfy(isNodeCharacter)
  }

  private static func isNodeCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "._-".contains(character))
  }

  /// Made of the secret; nil without one. Throws a sentence for a file that can't be used.
  private func seal() throws -> ClusterSeal? { try secret.map { try ClusterSeal(path: $0) } }

  /// What the node brings with it when it joins. Throws a sentence for a secret that can't be used.
  package func nodeSettings() throws -> NodeSettings {
    var settings = NodeSettings(name: node, names: names, zones: zones)
    (settings.replicas, settings.seal) = (replicas, try seal())
    return settings
  }

  /// How NATS is reached. Throws a sentence for a file that can't be used.
  package func natsSettings(software: String) throws -> NATSClient.Settings {
    var settings = NATSClient.Settings(
      servers: natsServers, NATSIntroduction(name: node, software: software))
    settings.credentials = try credentials.map { try NATSCredentialsSource(path: $0) }
    settings.wantsTLS = ca != nil
    settings.context =
      try ca.map { try TLSContext.client(ca: $0, policy: TLSPolicy()) }
      ?? TLSContext.clientOfSystemTrust(policy: TLSPolicy())
    return settings
  }
}

/// What a node is and brings with it when it joins.
package struct NodeSettings {
  /// No two nodes of a cluster have the same.
  package var name: String
  package var names: ClusterNames
  /// What the token map has to be cut into; nil takes what there is.
  package var zones: ZoneMap?
  /// NATS servers that hold each log, as a count.
  package var replicas = 1
  /// Of all that this node writes into NATS; nil without `--cluster-secret`.
  package var seal: ClusterSeal?
  /// What all nodes must have in common; nil where nobody asks, in tests.
  package var credentials: NodeCredentials?
  /// The data folder, which remembers the cluster; nil for nowhere.
  package var folder: String?
  /// The version of what nodes say to each other. Variable so that a test can have another.
  var speaks = NodeHello.version
  /// Something that people should know of the joining.
  package var tell: (_ sentence: String, _ because: String) -> Void = { _, _ in }

  package init(name: String, names: ClusterNames = ClusterNames(), zones: ZoneMap? = nil) {
    (self.name, self.names, self.zones) = (name, names, zones)
  }

  /// One of the cluster's logs.
  func log(
    _ client: NATSClient, _ loop: EventLoop,
    _ configuration: (ClusterNames, _ replicas: Int) -> JetStreamConfiguration
  ) -> LogStream {
    LogStream(client: client, loop: loop, configuration: configuration(names, replicas), seal: seal)
  }
}

/// What a cluster's streams and subjects are called in NATS, so that several clusters can share one.
///
/// Without a name they are called as before there were names: `APNS_Z3`, `apns.log.3`. With one it goes in front of what tells them
/// apart: `APNS_blue_Z3`, `apns.blue.log.3`. No two clusters have one in common, as what is behind the name is the last word.
package struct ClusterNames: Equatable, Sendable {
  /// Longest name, in characters: it is in the name of a folder of the NATS server's, too.
  package static let limit = 32

  /// nil for the one that has no name.
  package let cluster: String?

  package init(_ cluster: String? = nil) { self.cluster = cluster }

  /// Whether this can be a cluster's name: letters, digits, `_` and `-`, which are a word of a subject.
  package static func isName(_ name: String) -> Bool {
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
