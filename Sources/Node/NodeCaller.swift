import Basics
import Cluster
import Platform
import Services
import Transport

/// Makes connections to other nodes: calls back when the hello is said, or with the reason why not.
package final class NodeCaller {
  /// Why there is no connection.
  package struct Failure: Error { package let sentence: String }

  package typealias Completion = (Result<SocketConnection, Failure>) -> Void

  /// How long the same sentence about a node is not repeated, in nanoseconds: thousands may want to go there.
  private static let tellInterval: Int64 = 5_000_000_000
  /// Most connections that are being made at a time, as a count: a node's devices come back all at once.
  private static let atOnce = 1024

  /// How long connecting may take, and then the hello, in nanoseconds: a few round trips in one network. Variable so that a
  /// test need not wait for it.
  package var timeout: Int64 = 5_000_000_000
  package let loop: EventLoop
  private let cluster: any ClusterView
  private let logger: Logger
  private let connector: OutsideConnector
  private var calls: [ObjectIdentifier: NodeDial] = [:]
  /// What was told last of each node, and when, in monotonic nanoseconds.
  private var told: [String: (sentence: String, at: Instant)] = [:]

  init(loop: EventLoop, cluster: any ClusterView, logger: Logger) {
    (self.loop, self.cluster, self.logger) = (loop, cluster, logger)
    connector = OutsideConnector(loop: loop, atOnce: Self.atOnce, timeout: timeout)
  }

  /// Whether one more would be made now.
  var hasRoom: Bool { calls.count < Self.atOnce }

  /// Whoever is to have the connection sets its handler before the completion returns, and hears of what has come already within
  /// that. What is answered gives it up.
  @discardableResult
  package func call(_ peer: NodePeer, for kind: NodeHello.Kind, _ done: @escaping Completion) -> (() -> Void)
  {
    let hello = NodeHello(caller: cluster.name, kind: kind)
    let session = NodeCallSession(
      hello, to: peer.name, secret: cluster.secret, challenge: .nodeChallenge())
    let call = NodeDial(session, done) { [weak self] call, sentence in
      self?.calls[ObjectIdentifier(call)] = nil
      if let sentence { self?.tell(peer, kind, sentence) }
    }
    calls[ObjectIdentifier(call)] = call
    call.begin(peer.address, connector, loop, timeout: timeout)
    return { [weak call] in call?.giveUp() }
  }

  private func tell(_ peer: NodePeer, _ kind: NodeHello.Kind, _ sentence: String) {
    let now = SystemClock.now()
    let isNews =
      told[peer.name].map { $0.sentence != sentence || now.nanoseconds(since: $0.at) > Self.tellInterval }
      ?? true
    if isNews { told[peer.name] = (sentence, now) }
    logger.log(
      isNews ? .warning : .debug, "node can't be reached",
      [
        ("node", .string(peer.name)), ("address", .string(peer.address.description)),
        ("for", .string(kind.word)), ("because", .string(sentence)),
      ])
  }
}

/// One connection to be.
///
///     connecting ─→ greeting ─ OK ─→ over: somebody else's
///          └───────────┴─ refused, lost, overdue, given up ─→ over
private final class NodeDial: ConnectionHandler {
  /// With the reason why there is no connection; nil if there is, or nobody wants it any more.
  private let over: (NodeDial, String?) -> Void
  private var session: NodeCallSession
  private var done: NodeCaller.Completion?
  /// Of the one attempt that it waits for.
  private var stopConnecting: (() -> Void)?
  private var connection: SocketConnection?
  private var timer: LoopEvent?

  init(
    _ session: NodeCallSession, _ done: @escaping NodeCaller.Completion,
    over: @escaping (NodeDial, String?) -> Void
  ) {
    (self.session, self.done, self.over) = (session, done, over)
  }

  func begin(
    _ address: SocketAddress, _ connector: OutsideConnector, _ loop: EventLoop, timeout: Int64
  ) {
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      fail("no answer to the hello within \(timeout / 1_000_000) ms")
    }
    timer?.start(afterNanoseconds: timeout)
    let stop = connector.connect(to: address) { [weak self] result in
      switch result {
      case .success(let connection): self?.greet(connection)
      case .failure(let failure): self?.fail(failure.sentence)
      }
    }
    if connection == nil { stopConnecting = stop }
  }

  /// Nobody waits any more.
  func giveUp() {
    done = nil
    connection?.abort("given up")
    end(nil)
  }

  private func greet(_ connection: SocketConnection) {
    guard done != nil else { return connection.abort("given up") }
    stopConnecting = nil
    self.connection = connection
    connection.handler = self
    connection.send(session.opening)
    connection.setPaused(false)
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    switch session.receive(bytes) {
    case .wait: break
    case .send(let bytes): connection.send(bytes)
    case .ready(let rest): handOver(connection, rest)
    case .refused(let refusal): part(refusal)
    }
  }

  private func handOver(_ connection: SocketConnection, _ rest: [UInt8]) {
    let call = done
    (done, self.connection) = (nil, nil)
    call?(.success(connection))
    end(nil)
    // Who has not taken it does not want it.
    guard connection.handler !== self else { return connection.abort("given up") }
    if !rest.isEmpty { connection.handler?.connection(connection, received: rest.span) }
  }

  /// The other hears why.
  private func part(_ refusal: NodeGreeting.Refusal) {
    let connection = connection
    self.connection = nil
    connection?.send(refusal.farewell)
    fail(refusal.sentence)
    connection?.end()
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    guard self.connection === connection else { return }
    self.connection = nil
    fail("the connection was lost during the hello: \(reason)")
  }

  private func fail(_ sentence: String) {
    guard let call = done else { return }
    done = nil
    connection?.abort("given up")
    end(sentence)
    call(.failure(NodeCaller.Failure(sentence: sentence)))
  }

  private func end(_ sentence: String?) {
    timer = nil
    stopConnecting?()
    stopConnecting = nil
    over(self, sentence)
  }
}
