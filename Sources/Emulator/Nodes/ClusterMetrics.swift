import Cluster
import Console

/// What a node of a cluster counts, zone by zone and on its ways to the others (`Documentation/metrics.md`).
enum ClusterMetrics {
  static func all(_ node: EmulatorNode) -> [MetricFamily] {
    of(node.cluster) + zones(node.cluster.zoneReports) + of(node.relay)
  }

  private static func of(_ cluster: ClusterNode) -> [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_cluster_ready", .gauge, "1 while the NATS server is there and each zone has a leader.",
        value: cluster.isReady ? 1 : 0),
      MetricFamily(
        "apns_emulator_cluster_nodes", .gauge, "Nodes that live, this one among them.",
        value: cluster.nodes.count),
      MetricFamily(
        "apns_emulator_cluster_missing_nodes", .gauge,
        "Nodes that belong to the cluster and are missing.", value: cluster.missing.count),
      MetricFamily(
        "apns_emulator_commit_wait_seconds", .gauge,
        "How long the commit that is under way has waited for the NATS server.",
        [.init(Double(cluster.waitingTime) / 1_000_000_000)]),
    ]
  }

  private static func zones(_ zones: [ZoneReport]) -> [MetricFamily] {
    func family(_ name: String, _ help: String, _ value: (ZoneReport) -> Double) -> MetricFamily {
      MetricFamily(
        "apns_emulator_zone_\(name)", .gauge, help,
        zones.map { MetricFamily.Sample(value($0), [("zone", "\($0.zone.number)")]) })
    }
    return [
      family("owned", "1 for zones that this node leads.") { $0.seat == .here ? 1 : 0 },
      family("epoch", "How often the zone has changed its leader.") { Double($0.epoch) },
      family("sequence", "The last record of the zone's log that this node knows.") { Double($0.sequence) },
      family("waiting_bytes", "Changes of the zone that are not in its log yet.") { Double($0.waitingBytes) },
    ]
  }

  private static func of(_ relay: EdgeSink) -> [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_relay_waiting", .gauge,
        "Pushes that another node is asked about, or that wait for one.",
        value: relay.waitingCount),
      MetricFamily(
        "apns_emulator_relayed_pushes_total", .counter, "Pushes that other nodes have decided.",
        value: relay.relayed),
      MetricFamily(
        "apns_emulator_relay_given_up_total", .counter,
        "Pushes that no node took in time, or of which nobody knows what became.", value: relay.givenUp),
    ]
  }
}
