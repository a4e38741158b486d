import Broker
import Cluster
import Console
import Platform
import PushModel
import Services
import Transport
import Zones

/// What a node and the others of its cluster have to do with each other: its listener for them, and its connections to them.
///
///     other node ── link ────→ listener, NodeGuest ─→ `LinkTaker`
///                ── device ──→                     ─→ the courier
///                ── console ─→                     ─→ the console's server
///     this node ─→ `caller` ── hello ─→ another node's listener
package final class NodesService {
  package static let listenerName = "nodes"

  package let cluster: any ClusterView
  /// Makes connections to other nodes.
  package let caller: NodeCaller
  /// Leads devices to their nodes.
  package let devices: EdgeTunnels
  /// Asks other consoles.
  package let consoles: ConsoleRelay
  private let loop: EventLoop
  private let logger: Logger

  package init(_ cluster: any ClusterView, loop: EventLoop, logger: Logger) {
    (self.cluster, self.loop, self.logger) = (cluster, loop, logger)
    caller = NodeCaller(loop: loop, cluster: cluster, logger: logger)
    consoles = ConsoleRelay(cluster: cluster, caller: caller)
    devices = EdgeTunnels(loop: loop, cluster: cluster, caller: caller, logger: logger)
  }

  /// Opens the listener for other nodes; throws `SocketError` if the address can't be had. Without `links` nobody takes any.
  package func listen(
    on address: SocketAddress, links: (any LinkTaker)?, for host: any NodeHost
  ) throws -> SocketListener {
    let takers = NodeTakers(links: links, host: host)
    return try SocketListener(loop: loop, address: address, context: nil, name: Self.listenerName) {
      [loop, cluster, caller, logger] in
      NodeGuest(
        $0, loop: loop, cluster: cluster, timeout: caller.timeout, logger: logger, takers: takers)
    }
  }

  /// Seats have changed: who waits for a zone is looked at, and whoever is served because of a leader that another has followed
  /// comes back. Who is served stays while a zone is nobody's, as when NATS is unreachable.
  package func seatsChanged(for host: (any NodeHost)?) {
    let hasMoved = { [cluster] (zone: ZoneNumber, old: ZoneSeat) in
      let new = cluster.seat(of: zone)
      return new != old && new != .nowhere
    }
    devices.seatsChanged(hasMoved)
    consoles.seatsChanged(hasMoved)
    host?.endDevices("the zone of the device has moved to another node") { [cluster] in
      hasMoved(cluster.zone(of: $0), .here)
    }
  }

  package var metrics: [MetricFamily] { devices.metrics }
}

/// Who takes what other nodes bring.
private struct NodeTakers {
  let links: (any LinkTaker)?
  weak var host: (any NodeHost)?

  /// Why nobody of a kind is taken now; nil if somebody is.
  func refusal(_ kind: NodeHello.Kind) -> String? {
    if host?.isEnding != false { return "the node is shutting down" }
    switch kind {
    case .link: return links == nil ? "the node accepts no links yet" : nil
    case .console: return host?.console == nil ? "the node has no console" : nil
    case .device: return nil
    }
  }

  /// The connection is open, quiet, and its handler is the taker's to set.
  func take(_ hello: NodeHello, _ connection: SocketConnection) {
    switch hello.kind {
    case .link: links?.take(hello.caller, connection)
    case .console: host?.console?.adopt(node: connection)
    case .device(let device): host?.take(device, connection)
    }
  }
}

/// One connection that another node has made, until its hello is said. No TLS: it belongs in a private network. Who has proven that it
/// is of this cluster is taken by the part that the connection is for.
///
///     greeting ─ hello, welcome ─→ met ─ the welcome has left ─→ somebody else's
///         └─ no hello, a wrong one, nobody takes it ─→ refused
private final class NodeGuest: ConnectionHandler {
  /// The link back is cut when the connection has another handler, or none.
  private let connection: SocketConnection
  private let logger: Logger
  private let takers: NodeTakers
  private var session: NodeAcceptSession
  private var timer: LoopEvent?
  private var hello: NodeHello?
  /// It ends, and somebody was told why.
  private var isRefused = false

  init(
    _ connection: SocketConnection, loop: EventLoop, cluster: any ClusterView, timeout: Int64, logger: Logger,
    takers: NodeTakers
  ) {
    (self.connection, self.logger, self.takers) = (connection, logger, takers)
    session = NodeAcceptSession(name: cluster.name, secret: cluster.secret, challenge: .nodeChallenge())
    // What is said before is no news that a commit could undo.
    connection.waitsForCommits = false
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      refuse(NodeGreeting.Refusal("no hello within \(timeout / 1_000_000) ms"))
    }
    timer?.start(afterNanoseconds: timeout)
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    guard !isRefused else { return }
    guard hello == nil else { return refuse(NodeGreeting.Refusal("it sent bytes out of turn")) }
    switch session.receive(bytes) {
    case .wait: break
    case .send(let bytes): connection.send(bytes)
    case .met(let hello): welcome(hello)
    case .refused(let refusal): refuse(refusal)
    }
  }

  private func welcome(_ hello: NodeHello) {
    if let sentence = takers.refusal(hello.kind) { return refuse(NodeGreeting.Refusal(sentence), hello) }
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
    takers.take(hello, connection)
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
