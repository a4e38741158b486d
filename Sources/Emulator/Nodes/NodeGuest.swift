import Broker
import Cluster
import Platform
import PushModel
import Transport

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
