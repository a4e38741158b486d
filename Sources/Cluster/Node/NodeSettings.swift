import Zones

/// What a node is and brings with it when it joins.
public struct NodeSettings {
  /// No two nodes of a cluster have the same.
  public var name: String
  public var names: ClusterNames
  /// What the token map has to be cut into; nil takes what there is.
  public var zones: ZoneMap?
  /// NATS servers that hold each log, as a count.
  public var replicas = 1
  /// Of all that this node writes into NATS; nil without `--cluster-secret`.
  public var seal: ClusterSeal?
  /// What all nodes must have in common; nil where nobody asks, in tests.
  public var credentials: NodeCredentials?
  /// The data folder, which remembers the cluster; nil for nowhere.
  public var folder: String?
  /// The version of what nodes say to each other. Variable so that a test can have another.
  var speaks = NodeHello.version
  /// Something that people should know of the joining.
  public var tell: (_ sentence: String, _ because: String) -> Void = { _, _ in }

  public init(name: String, names: ClusterNames = ClusterNames(), zones: ZoneMap? = nil) {
    (self.name, self.names, self.zones) = (name, names, zones)
  }
}
