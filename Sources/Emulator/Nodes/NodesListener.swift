import Broker
import Cluster
import Platform
import PushModel
import Transport

/// Where other nodes of the cluster connect. No TLS: it belongs in a private network. Who has said hello and proven that it is
/// of this cluster is handed to the part that the connection is for.
final class NodesListener {
  static let name = "nodes"

  /// Takes the connections of one kind. The connection is open, quiet, and its handler is the taker's to set; the sentence says
  /// why it is not taken.
  struct Takers {
    /// How long a hello may take, in nanoseconds.
    var patience: () -> Int64
    var link: (_ peer: String, SocketConnection) -> Void
    var console: (_ peer: String, SocketConnection) -> Void
    var device: (_ peer: String, RelayedDevice, SocketConnection) -> Void
    /// Why nobody of a kind is taken now.
    var refusal: (NodeHello.Kind) -> String? = { _ in nil }
  }

  let listener: SocketListener

  /// Opens it; throws `SocketError` if the address can't be had.
  init(
    loop: EventLoop, address: SocketAddress, cluster: any ClusterView, logger: Logger, takers: Takers
  ) throws {
    listener = try SocketListener(loop: loop, address: address, context: nil) {
      NodeGuest($0, loop: loop, cluster: cluster, logger: logger, takers: takers)
    }
    listener.name = Self.name
  }
}

/// One connection of another node until its hello is said.
private final class NodeGuest: ConnectionHandler {
  /// The link back is cut when the connection has another handler, or none.
  private let connection: SocketConnection
  private let logger: Logger
  private let takers: NodesListener.Takers
  private var session: NodeAcceptSession
  private var timer: LoopEvent?
  private var hello: NodeHello?
  /// It ends, and somebody was told why.
  private var isRefused = false

  init(
    _ connection: SocketConnection, loop: EventLoop, cluster: any ClusterView, logger: Logger,
    takers: NodesListener.Takers
  ) {
    (self.connection, self.logger, self.takers) = (connection, logger, takers)
    session = NodeAcceptSession(name: cluster.name, secret: cluster.secret, challenge: .nodeChallenge())
    // What is said before is no news that a commit could undo.
    connection.waitsForCommits = false
    let patience = takers.patience()
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      refuse(NodeGreeting.Refusal("no hello within \(patience / 1_000_000) ms"))
    }
    timer?.start(afterNanoseconds: patience)
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
    switch hello.kind {
    case .link: takers.link(hello.caller, connection)
    case .console: takers.console(hello.caller, connection)
    case .device(let device): takers.device(hello.caller, device, connection)
    }
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
  static func nodeChallenge() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<NodeGreeting.challengeByteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator)
    }
  }
}
