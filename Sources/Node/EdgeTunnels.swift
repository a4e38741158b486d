import Basics
import Cluster
import Console
import CourierWire
import Platform
import PushModel
import Services
import Transport
import Zones

/// Leads devices to the node that their zone belongs to: this node keeps TLS, and passes plain bytes on in both directions.
///
///     place ─→ the zone is here ───────────────────────────→ the courier goes on
///        ├───→ it is at another node ─ a connection to it ─→ a tunnel, until one side ends or the zone moves
///        └───→ it is nowhere, or its node can't be reached ─ it waits ─→ once more, or the end
package final class EdgeTunnels {
  /// What has come of a device that is not of this node.
  package enum Place {
    /// It is by now.
    case here
    /// The connection to its node, which is to be told what the device has said.
    case at(NodePeer, SocketConnection)
    case nobody(String)
  }

  /// How often those are looked at that wait, in nanoseconds.
  private static let interval: Int64 = 250_000_000
  /// The leader ends what is idle, and devices that do not read are no worse than without a relay; so this is only for what nobody
  /// ends.
  private static let limits = SocketTunnel.Limits(
    idle: CourierLimits.idleNanoseconds + 60_000_000_000,
    stall: CourierLimits.idleNanoseconds + 60_000_000_000, backlog: 64 << 10)

  /// How long a device is held whose zone nobody has, in nanoseconds: nearly as long as it waits for its answer
  /// (`CourierLimits.answerNanoseconds`), as it comes at once when there is a leader, and later when it has been sent away. Variable so
  /// that a test need not wait for it.
  package var timeout: Int64 = 12_000_000_000
  private let loop: EventLoop
  private let cluster: any ClusterView
  private let caller: NodeCaller
  private let logger: Logger
  private let tunnels: SocketTunnels
  private var waiting: [ObjectIdentifier: Waiting] = [:]
  private var relayed: [ObjectIdentifier: Relayed] = [:]
  private var timer: LoopEvent?
  /// Devices that were relayed so far, and that were sent away, as counts.
  private var relayedCount = 0
  private var sentAwayCount = 0

  /// A device whose place is looked for.
  private final class Waiting {
    let zone: ZoneNumber
    /// What another node is told of it; nil if it may not be led to another.
    let told: EdgeDevice?
    let deadline: Instant
    let done: (Place) -> Void
    /// The call that is under way.
    var call: (peer: NodePeer, giveUp: () -> Void)?
    /// Why it still waits.
    var problem = "it has no leader"

    init(_ zone: ZoneNumber, _ told: EdgeDevice?, deadline: Instant, _ done: @escaping (Place) -> Void) {
      (self.zone, self.told, self.deadline, self.done) = (zone, told, deadline, done)
    }
  }

  private struct Relayed {
    let zone: ZoneNumber
    let peer: NodePeer
    let tunnel: SocketTunnel
  }

  init(loop: EventLoop, cluster: any ClusterView, caller: NodeCaller, logger: Logger) {
    (self.loop, self.cluster, self.caller, self.logger) = (loop, cluster, caller, logger)
    tunnels = SocketTunnels(loop: loop, name: "courier", limits: Self.limits)
    timer = LoopEvent(timerOn: loop) { [unowned self] in lookAtAll() }
  }

  /// Whether this node leads the device's zone.
  package func isHere(_ udid: UDID) -> Bool { cluster.seat(of: cluster.zone(of: udid)) == .here }

  /// Whether no device is led to another node.
  package var isIdle: Bool { relayed.isEmpty }

  /// The node that a connection of the courier is relayed to; nil if it is not.
  package func peer(of connection: SocketConnection) -> NodePeer? {
    relayed[ObjectIdentifier(connection)]?.peer
  }

  // MARK: Arriving

  /// Finds the place of a device whose zone is not here; `done` hears of that once. What is answered ends that: the device is gone.
  /// `told` is what another node is told of it; nil if it may not be led to another.
  package func place(_ udid: UDID, told: EdgeDevice?, _ done: @escaping (Place) -> Void) -> () -> Void {
    let deadline = SystemClock.now().adding(nanoseconds: timeout)
    let waiting = Waiting(cluster.zone(of: udid), told, deadline: deadline, done)
    if self.waiting.isEmpty { timer?.start(afterNanoseconds: Self.interval) }
    self.waiting[ObjectIdentifier(waiting)] = waiting
    look(waiting)
    return { [weak self, weak waiting] in
      guard let waiting else { return }
      self?.waiting.removeValue(forKey: ObjectIdentifier(waiting))?.call?.giveUp()
    }
  }

  /// Lets device and node hear each other. The device has `said` this, and has had `answered` bytes of what its node will answer
  /// to it.
  package func join(
    _ device: SocketConnection, _ udid: UDID, _ peer: NodePeer, _ node: SocketConnection, said: [UInt8],
    answered: Int
  ) {
    // What the node says is true already.
    device.waitsForCommits = false
    device.hold(0)
    node.send(said)
    let key = ObjectIdentifier(device)
    let tunnel = tunnels.join(device, node, skipping: answered) { [weak self] in self?.relayed[key] = nil }
    guard let tunnel else { return }
    relayed[key] = Relayed(zone: cluster.zone(of: udid), peer: peer, tunnel: tunnel)
    relayedCount += 1
    logger.log(
      .info, "device relayed", [("udid", .string(udid.text)), ("node", .string(peer.name))])
  }

  private func look(_ waiting: Waiting) {
    switch cluster.seat(of: waiting.zone) {
    case .here: settle(waiting, .here)
    case .nowhere:
      stopCalling(waiting)
      waiting.problem = "it has no leader"
    case .at(let peer):
      guard let told = waiting.told else {
        return settle(waiting, .nobody("it is at \(peer.name)"))
      }
      guard waiting.call?.peer != peer else { return }
      stopCalling(waiting)
      if caller.hasRoom {
        call(peer, told, waiting)
      } else {
        waiting.problem = "too many devices wait for their nodes"
      }
    }
  }

  private func call(_ peer: NodePeer, _ told: EdgeDevice, _ waiting: Waiting) {
    var isOver = false
    let giveUp = caller.call(peer, for: .device(told)) { [weak self] result in
      isOver = true
      waiting.call = nil
      switch result {
      case .success(let connection): self?.settle(waiting, .at(peer, connection))
      case .failure(let failure): waiting.problem = "\(peer.name) can't be reached: \(failure.sentence)"
      }
    }
    if !isOver { waiting.call = (peer, giveUp) }
  }

  private func stopCalling(_ waiting: Waiting) {
    waiting.call?.giveUp()
    waiting.call = nil
  }

  private func settle(_ waiting: Waiting, _ place: Place) {
    guard self.waiting.removeValue(forKey: ObjectIdentifier(waiting)) != nil else { return }
    stopCalling(waiting)
    if case .nobody = place { sentAwayCount += 1 }
    waiting.done(place)
  }

  private func lookAtAll() {
    let now = SystemClock.now()
    for waiting in Array(waiting.values) {
      look(waiting)
      if now >= waiting.deadline {
        settle(waiting, .nobody("its zone \(waiting.zone): \(waiting.problem)"))
      }
    }
    if !waiting.isEmpty { timer?.start(afterNanoseconds: Self.interval) }
  }

  // MARK: What changes

  /// Seats have changed: who waits is looked at at once, and devices come back whose node is not theirs any more.
  func seatsChanged(_ hasMoved: (ZoneNumber, _ from: ZoneSeat) -> Bool) {
    for relayed in Array(relayed.values) where hasMoved(relayed.zone, .at(relayed.peer)) {
      relayed.tunnel.close()
    }
    for waiting in Array(waiting.values) { look(waiting) }
  }

  /// Ends every connection in order.
  package func shutDown() {
    for waiting in Array(waiting.values) { settle(waiting, .nobody("the emulator is shutting down")) }
    tunnels.closeAll()
  }

  var metrics: [MetricFamily] {
    [
      MetricFamily(
        "apns_emulator_relayed_devices", .gauge,
        "Devices that are connected here and served by another node.", value: relayed.count),
      MetricFamily(
        "apns_emulator_relayed_devices_total", .counter,
        "Device connections that were relayed to another node.",
        value: relayedCount),
      MetricFamily(
        "apns_emulator_unplaced_devices_total", .counter,
        "Device connections that were ended because no node could serve them.", value: sentAwayCount),
    ]
  }
}
