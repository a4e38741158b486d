import Cluster
import Console
import Platform
import PushModel
import Transport
import Zones

/// What a node and the others of its cluster have to do with each other: its listener for them, and its connections to them.
///
///     other node ── link ────→ NodesListener ─→ `onLink`
///                ── device ──→               ─→ the courier
///                ── console ─→               ─→ the console's server
///     this node ─→ `caller` ── hello ─→ another node's listener
final class NodesService {
  let cluster: any ClusterView
  /// Makes connections to other nodes.
  let caller: NodeCaller
  /// Takes what another node has to tell this one; the handler is its to set, and whether what it sends waits for commits
  /// (`waitsForCommits`, which is on). nil: nobody is taken.
  var onLink: ((_ peer: String, SocketConnection) -> Void)?
  /// Leads devices to their nodes.
  let devices: DeviceRelay
  /// Asks other consoles.
  let consoles: ConsoleRelay
  private unowned let emulator: Emulator
  private var listener: NodesListener?

  init(_ emulator: Emulator, _ cluster: any ClusterView) {
    (self.emulator, self.cluster) = (emulator, cluster)
    caller = NodeCaller(loop: emulator.loop, cluster: cluster, logger: emulator.logger)
    consoles = ConsoleRelay(cluster: cluster, caller: caller)
    devices = DeviceRelay(loop: emulator.loop, cluster: cluster, caller: caller, logger: emulator.logger)
  }

  /// Opens the listener for other nodes.
  func listen(on address: SocketAddress) throws -> SocketListener {
    var takers = NodesListener.Takers(
      patience: { [caller] in caller.patience },
      link: { [unowned self] in onLink?($0, $1) },
      console: { [unowned emulator] in emulator.console?.adopt(node: $1) },
      device: { [courier = emulator.courier] in courier.take($2, $1) })
    takers.refusal = { [unowned self] in refusal($0) }
    let listener = try NodesListener(
      loop: emulator.loop, address: address, cluster: cluster, logger: emulator.logger, takers: takers)
    self.listener = listener
    return listener.listener
  }

  var metrics: [MetricFamily] { devices.metrics + consoles.metrics }

  private func refusal(_ kind: NodeHello.Kind) -> String? {
    if emulator.shutdown?.hasBegun == true { return "the node is shutting down" }
    switch kind {
    case .link: return onLink == nil ? "the node takes no links yet" : nil
    case .console: return emulator.console == nil ? "the node has no console" : nil
    case .device: return nil
    }
  }
}

/// What the cluster tells.
extension NodesService {
  /// Seats have changed: who waits for a zone is looked at, and whoever is served because of an owner that another has followed
  /// comes back. Who is served stays while a zone is nobody's, as when the engine is away.
  func seatsChanged() {
    follow { [cluster] zone, old in
      let new = cluster.seat(of: zone)
      return new != old && new != .nowhere
    }
  }

  /// A zone is not where it was, also if it is nobody's now: whoever is served because of its old owner comes back.
  func zoneMoved(_ moved: ZoneNumber) {
    follow { [cluster] zone, old in zone == moved && cluster.seat(of: zone) != old }
  }

  private func follow(_ hasMoved: (ZoneNumber, _ from: ZoneSeat) -> Bool) {
    devices.seatsChanged(hasMoved)
    consoles.seatsChanged(hasMoved)
    let reason = "the zone of the device has moved to another node"
    let isGone: (UDID) -> Bool = { [cluster] in hasMoved(cluster.zone(of: $0), .here) }
    emulator.courier.end(reason, where: isGone)
    emulator.streams.end(reason, where: isGone)
  }
}
