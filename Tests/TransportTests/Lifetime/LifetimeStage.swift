import Basics
import Platform
import Testing

@testable import Transport

/// A listener and connections on one loop. Nobody but themselves, and those who own them, holds what is watched here, and so it is to be
/// gone when it has ended.
final class LifetimeStage {
  private static let timeout: Int64 = 5_000_000_000

  private struct Watched {
    let name: String
    weak var object: AnyObject?
  }

  let loop: EventLoop
  private let heartbeat: LoopEvent
  private var watched: [Watched] = []
  private(set) var address = SocketAddress(host: "127.0.0.1", port: 0)
  private var listener: SocketListener?
  /// What a server does; kept here, so that it holds nothing.
  private let prepare: (Holder, SocketConnection) -> Void

  /// On a loop of its own unless told otherwise. `prepare` is called when a server has been accepted.
  init(
    _ context: TLSContext? = nil, on other: EventLoop? = nil,
    prepare: @escaping (Holder, SocketConnection) -> Void = { _, _ in }
  ) throws {
    loop = try other ?? #require(EventLoop())
    heartbeat = LoopEvent(timerOn: loop) {}
    self.prepare = prepare
    let watch = ListenerWatch(opened: { [weak self] connection in
      if let holder = connection.handler as? Holder { self?.prepare(holder, connection) }
    })
    let listener = try SocketListener(loop: loop, address: address, context: context, watch: watch) {
      [weak self] connection in
      let holder = Holder(connection)
      self?.watch(connection, holder, "server")
      return holder
    }
    (self.listener, address) = (listener, listener.address)
  }

  deinit { listener?.stopAccepting() }

  /// Of all that is watched, what is still there.
  var left: [String] { watched.filter { $0.object != nil }.map(\.name) }

  /// The server that came last.
  var server: Holder? { watched.last { $0.object is Holder && $0.name == "server" }?.object as? Holder }

  func watch(_ objects: AnyObject..., name: String) {
    watched += objects.map { Watched(name: name, object: $0) }
  }

  private func watch(_ connection: SocketConnection, _ holder: Holder, _ name: String) {
    watch(connection, holder, name: name)
  }

  /// A client on its way. `prepare` is called before anything has happened.
  func connect(_ context: TLSContext? = nil, prepare: (Holder) -> Void = { _ in }) throws -> Holder {
    let holder = Holder(nil)
    prepare(holder)
    let connection = try TLSClient.connect(
      loop: loop, to: address, serverName: "localhost", context: context, handler: holder)
    holder.connection = connection
    watch(connection, holder, "client")
    return holder
  }

  func turn(
    until what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
  ) {
    let end = SystemClock.now().adding(nanoseconds: Self.timeout)
    while !condition() {
      guard SystemClock.now() < end else {
        Issue.record("waited in vain until \(what); left: \(left)", sourceLocation: sourceLocation)
        return
      }
      heartbeat.start(afterNanoseconds: 1_000_000)
      loop.runTurn()
    }
  }

  /// Turns until nothing is left; who has not been accepted yet comes meanwhile.
  func turnUntilGone(sourceLocation: SourceLocation = #_sourceLocation) {
    for _ in 0..<3 { loop.runTurn(wait: false) }
    turn(until: "all is freed", sourceLocation: sourceLocation) { left.isEmpty }
  }
}

/// Owns a connection as others do, writes down what it hears, and does in each call what a test wants. Nothing may be heard behind the end.
final class Holder: ConnectionHandler {
  enum Call { case opened, received, drained, peerEnded, overdue, evicted, closed }

  var connection: SocketConnection?
  var acts: [Call: (SocketConnection) -> Void] = [:]
  var takes: (Span<UInt8>) -> Void = { _ in }
  private(set) var heard: [Call] = []

  init(_ connection: SocketConnection?) { self.connection = connection }

  var isUp: Bool { connection.map { $0.isOpen && ($0.life.phase == .open) } ?? false }
  var hasEnded: Bool { heard.contains(.closed) }

  private func hear(_ call: Call, _ connection: SocketConnection, otherwise: () -> Void = {}) {
    #expect(!hasEnded, "\(call) behind the end")
    heard.append(call)
    if let act = acts[call] { act(connection) } else { otherwise() }
  }

  func connectionOpened(_ connection: SocketConnection) { hear(.opened, connection) }
  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    takes(bytes)
    hear(.received, connection)
  }
  func connectionDrained(_ connection: SocketConnection) { hear(.drained, connection) }
  func connectionPeerEnded(_ connection: SocketConnection) {
    hear(.peerEnded, connection) { connection.close() }
  }
  func connectionIsOverdue(_ connection: SocketConnection) {
    hear(.overdue, connection) { connection.close() }
  }
  func evict(_ connection: SocketConnection) {
    hear(.evicted, connection) { connection.abort(SocketConnection.evictedReason, reset: true) }
  }
  func connectionClosed(_ connection: SocketConnection, reason: String) { hear(.closed, connection) }
}

/// Contexts, made once for the whole run.
enum LifetimeKeys {
  static func contexts(closeDelay: Int64 = 0, alpn: String? = nil) throws -> (
    server: TLSContext, client: TLSContext
  ) {
    let certs = try Keys.folder()
    var policy = TLSPolicy()
    policy.closeDelay = closeDelay
    if let alpn { policy.protocols = ALPNChoice { _ in alpn } }
    let server = try TLSContext.server(
      certificate: certs.server.certificate, key: certs.server.key, policy: policy)
    return (server, try TLSContext.client(ca: certs.ca.certificate, policy: TLSPolicy()))
  }
}
