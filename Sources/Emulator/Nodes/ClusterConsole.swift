import Cluster
import Console
import Platform
import Transport
import Zones

/// Shows the cluster at the console, and carries out what people order there.
final class ClusterConsole: ClusterBoard {
  /// From the answer until the end that it tells of, in nanoseconds: by then it has left.
  private static let farewell: Int64 = 100_000_000

  private let node: EmulatorNode
  private unowned let emulator: Emulator
  private var ending: LoopEvent?

  init(_ node: EmulatorNode, _ emulator: Emulator) { (self.node, self.emulator) = (node, emulator) }

  private var cluster: ClusterNode { node.cluster }

  var report: ClusterReport {
    let trouble = cluster.trouble
    return ClusterReport(
      name: cluster.name, cluster: cluster.clusterName, because: trouble.map { "\($0)" },
      nats: ClusterReport.NATSStatus(
        servers: emulator.options.cluster?.natsServers.map(\.description) ?? [],
        isConnected: cluster.isConnected,
        trouble: trouble.flatMap { $0.isOfNATS ? "\($0)" : nil }, waitingMs: cluster.waitingTime / 1_000_000
      ),
      nodes: cluster.nodes.map { ClusterReport.Node($0) }, missing: cluster.missing,
      zones: cluster.zoneReports.map { ClusterReport.Zone($0) })
  }

  func move(_ zone: Int, to node: String) -> String? { cluster.move(ZoneNumber(zone), to: node) }

  func forget(_ node: String, done: @escaping (_ failure: String?) -> Void) {
    cluster.forget(node, done: done)
  }

  func drain() { after(Self.farewell) { [unowned emulator] in emulator.stop() } }

  func kill() { after(Self.farewell) { _ = Platform.kill(getpid(), SIGKILL) } }

  private func after(_ nanoseconds: Int64, _ work: @escaping () -> Void) {
    ending = LoopEvent(timerOn: emulator.loop, handler: work)
    ending?.start(afterNanoseconds: nanoseconds)
  }

  func pass(
    _ exchange: HTTPExchange, to node: String, refuse: @escaping (_ sentence: String) -> HTTPResponse
  ) -> Bool {
    guard let consoles = emulator.nodes?.consoles, consoles.names.contains(node) else { return false }
    consoles.pass(exchange, to: node, refuse: refuse)
    return true
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
