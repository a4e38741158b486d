import Cluster
import Console
import Platform
import Services
import Transport
import Zones

/// Shows the cluster at the console, and carries out what people order there.
package final class ClusterConsole: ClusterBoard {
  /// From the answer until the end that it tells of, in nanoseconds: by then it has left.
  private static let farewell: Int64 = 100_000_000

  private let node: EmulatorNode
  private let natsServers: [String]
  private let loop: EventLoop
  /// Begins the emulator's orderly end.
  private let stop: () -> Void
  private var ending: LoopEvent?

  /// `natsServers` are those that the options name, for people.
  package init(
    _ node: EmulatorNode, natsServers: [String], _ loop: EventLoop, stop: @escaping () -> Void
  ) {
    (self.node, self.natsServers, self.loop, self.stop) = (node, natsServers, loop, stop)
  }

  private var cluster: ClusterNode { node.cluster }

  package var report: ClusterReport {
    let trouble = cluster.trouble
    return ClusterReport(
      name: cluster.name, cluster: cluster.clusterName, because: trouble.map { "\($0)" },
      nats: ClusterReport.NATSStatus(
        servers: natsServers,
        isConnected: cluster.isConnected,
        trouble: trouble.flatMap { $0.isOfNATS ? "\($0)" : nil }, waitingMs: cluster.waitingTime / 1_000_000
      ),
      nodes: cluster.nodes.map { ClusterReport.Node($0) }, missing: cluster.missing,
      zones: cluster.zoneReports.map { ClusterReport.Zone($0) })
  }

  package func move(_ zone: Int, to node: String) -> String? { cluster.move(ZoneNumber(zone), to: node) }

  package func forget(_ node: String, done: @escaping (_ failure: String?) -> Void) {
    cluster.forget(node, done: done)
  }

  package func drain() { after(Self.farewell, stop) }

  package func kill() { after(Self.farewell) { ProcessStatus.kill(ProcessStatus.own) } }

  private func after(_ nanoseconds: Int64, _ work: @escaping () -> Void) {
    ending = LoopEvent(timerOn: loop, handler: work)
    ending?.start(afterNanoseconds: nanoseconds)
  }
}

extension ClusterReport.Node {
  fileprivate init(_ node: NodeAnnouncement) {
    self.init(
      name: node.name, ordinal: node.ordinal, address: node.address?.description,
      console: node.console?.description, ledCount: node.ledCount, devices: node.devices,
      isDraining: node.isDraining)
  }
}

extension ClusterReport.Zone {
  fileprivate init(_ zone: ZoneReport) {
    let seat: ClusterReport.Seat =
      switch zone.seat {
      case .here: .here
      case .at: .elsewhere
      case .nowhere: .nowhere
      }
    self.init(
      number: zone.zone.number, leader: zone.leader, seat: seat, epoch: zone.epoch, sequence: zone.sequence,
      waitingBytes: zone.waitingBytes, isMoving: zone.isMoving, trouble: zone.trouble)
  }
}

/// What a node of a cluster counts, zone by zone and on its ways to the others (`Documentation/metrics.md`).
package enum ClusterMetrics {
  package static func all(_ node: EmulatorNode) -> [MetricFamily] {
    of(node.cluster) + zones(node.cluster.zoneReports) + of(node.sink)
  }

  private static func of(_ cluster: ClusterNode) -> [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_cluster_ready", .gauge,
        "1 while the NATS server is reachable and each zone has a leader.",
        value: cluster.isReady ? 1 : 0),
      MetricFamily(
        "apns_emulator_cluster_nodes", .gauge, "Nodes that are running, including this one.",
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

  private static func of(_ sink: EdgeSink) -> [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_relay_waiting", .gauge,
        "Pushes that wait for another node's verdict, or for a node to be sent to.",
        value: sink.waitingCount),
      MetricFamily(
        "apns_emulator_relayed_pushes_total", .counter, "Pushes whose verdict came from another node.",
        value: sink.relayed),
      MetricFamily(
        "apns_emulator_relay_given_up_total", .counter,
        "Pushes that no node took in time, or whose outcome is unknown.", value: sink.givenUp),
    ]
  }
}
