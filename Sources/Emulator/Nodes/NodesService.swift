import Broker
import Cluster
import Console
import Platform
import PushModel
import Runtime
import Transport
import Zones

/// What a node and the others of its cluster have to do with each other: its listener for them, and its connections to them.
///
///     other node ── link ────→ listener, NodeGuest ─→ `onLink`
///                ── device ──→                     ─→ the courier
///                ── console ─→                     ─→ the console's server
///     this node ─→ `caller` ── hello ─→ another node's listener
final class NodesService {
  static let listenerName = "nodes"

  let cluster: any ClusterView
  /// Makes connections to other nodes.
  let caller: NodeCaller
  /// Takes what another node has to tell this one; the handler is its to set, and whether what it sends waits for commits
  /// (`waitsForCommits`, which is on). nil: nobody is taken.
  var onLink: ((_ peer: String, SocketConnection) -> Void)?
  /// Leads devices to their nodes.
  let devices: EdgeTunnels
  /// Asks other consoles.
  let consoles: ConsoleRelay
  private unowned let emulator: Emulator

  init(_ emulator: Emulator, _ cluster: any ClusterView) {
    (self.emulator, self.cluster) = (emulator, cluster)
    caller = NodeCaller(loop: emulator.loop, cluster: cluster, logger: emulator.logger)
    consoles = ConsoleRelay(cluster: cluster, caller: caller)
    devices = EdgeTunnels(loop: emulator.loop, cluster: cluster, caller: caller, logger: emulator.logger)
  }

  /// Opens the listener for other nodes; throws `SocketError` if the address can't be had.
  func listen(on address: SocketAddress) throws -> SocketListener {
    let hosts = NodeGuest.Hosts(
      refusal: { [unowned self] in refusal($0) }, take: { [unowned self] in take($0, $1) })
    let (loop, logger) = (emulator.loop, emulator.logger)
    return try SocketListener(loop: loop, address: address, context: nil, name: Self.listenerName) {
      [cluster, caller] in
      NodeGuest(
        $0, loop: loop, cluster: cluster, timeout: caller.timeout, logger: logger, hosts: hosts)
    }
  }

  private func take(_ hello: NodeHello, _ connection: SocketConnection) {
    switch hello.kind {
    case .link: onLink?(hello.caller, connection)
    case .console: emulator.console?.adopt(node: connection)
    case .device(let device): emulator.courier.take(connection, device)
    }
  }

  var metrics: [MetricFamily] { devices.metrics }

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
  /// Seats have changed: who waits for a zone is looked at, and whoever is served because of a leader that another has followed
  /// comes back. Who is served stays while a zone is nobody's, as when NATS is unreachable.
  func seatsChanged() {
    let hasMoved = { [cluster] (zone: ZoneNumber, old: ZoneSeat) in
      let new = cluster.seat(of: zone)
      return new != old && new != .nowhere
    }
    devices.seatsChanged(hasMoved)
    consoles.seatsChanged(hasMoved)
    let reason = "the zone of the device has moved to another node"
    let isGone: (UDID) -> Bool = { [cluster] in hasMoved(cluster.zone(of: $0), .here) }
    emulator.courier.end(reason, where: isGone)
    emulator.streams.end(reason, where: isGone)
  }
}

/// One connection that another node has made, until its hello is said. No TLS: it belongs in a private network. Who has proven that it
/// is of this cluster is taken by the part that the connection is for.
///
///     greeting ─ hello, welcome ─→ met ─ the welcome has left ─→ somebody else's
///         └─ no hello, a wrong one, nobody takes it ─→ refused
final class NodeGuest: ConnectionHandler {
  /// What becomes of those who have said hello.
  struct Hosts {
    /// Why nobody of a kind is taken now.
    var refusal: (NodeHello.Kind) -> String?
    /// The connection is open, quiet, and its handler is the taker's to set.
    var take: (NodeHello, SocketConnection) -> Void
  }

  /// The link back is cut when the connection has another handler, or none.
  private let connection: SocketConnection
  private let logger: Logger
  private let hosts: Hosts
  private var session: NodeAcceptSession
  private var timer: LoopEvent?
  private var hello: NodeHello?
  /// It ends, and somebody was told why.
  private var isRefused = false

  init(
    _ connection: SocketConnection, loop: EventLoop, cluster: any ClusterView, timeout: Int64, logger: Logger,
    hosts: Hosts
  ) {
    (self.connection, self.logger, self.hosts) = (connection, logger, hosts)
    session = NodeAcceptSession(name: cluster.name, secret: cluster.secret, challenge: .nodeChallenge())
    // What is said before is no news that a commit could undo.
    connection.waitsForCommits = false
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      refuse(NodeGreeting.Refusal("no hello within \(timeout / 1_000_000) ms"))
    }
    timer?.start(afterNanoseconds: timeout)
  }

  func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    guard !isRefused else { return }
    guard hello == nil else { return refuse(NodeGreeting.Refusal("it spoke before it was its turn")) }
    switch session.receive(bytes) {
    case .wait: break
    case .send(let bytes): connection.send(bytes)
    case .met(let hello): welcome(hello)
    case .refused(let refusal): refuse(refusal)
    }
  }

  private func welcome(_ hello: NodeHello) {
    if let sentence = hosts.refusal(hello.kind) { return refuse(NodeGreeting.Refusal(sentence), hello) }
    self.hello = hello
    connection.send(NodeAcceptSession.welcome)
    connection.notifyWhenDrained()
  }

  /// The welcome has left: what comes next is not for this.
  func connectionDrained(_ connection: SocketConnection) {
    guard let hello, !isRefused else { return }
    timer = nil
    connection.waitsForCommits = true
    logger.log(
      .debug, "node connected", [("node", .string(hello.caller)), ("for", .string(hello.kind.word))])
    hosts.take(hello, connection)
  }

  private func refuse(_ refusal: NodeGreeting.Refusal, _ hello: NodeHello? = nil) {
    isRefused = true
    timer = nil
    logger.log(
      .warning, "node refused",
      [
        ("remote", .string(connection.remoteAddress.description)), ("node", .optional(hello?.caller)),
        ("because", .string(refusal.sentence)),
      ])
    connection.send(refusal.farewell)
    connection.close()
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) { timer = nil }
}

extension [UInt8] {
  /// Random bytes for one greeting.
  static func nodeChallenge() -> [UInt8] { random(NodeGreeting.challengeByteCount) }
}
