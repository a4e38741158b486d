import Basics
import CLibrary
import Credentials
import Platform
import TestSupport
import Testing

@testable import Transport

/// A listener and its clients on one loop, which the test turns.
final class Stage {
  private static let timeout: Int64 = 20_000_000_000
  private static let heartbeatInterval: Int64 = 10_000_000

  let loop: EventLoop
  private(set) var servers: [Peer] = []
  private(set) var clients: [Peer] = []
  private var listener: SocketListener?
  private let heartbeat: LoopEvent
  private let client: TLSContext

  /// `prepare` may change what a server does before anything happens to it.
  init(
    _ policy: TLSPolicy = TLSPolicy(), client clientPolicy: TLSPolicy = TLSPolicy(),
    prepare: @escaping (Peer) -> Void = { _ in }
  ) throws {
    let certs = try Keys.folder()
    loop = try #require(EventLoop())
    heartbeat = LoopEvent(timerOn: loop) {}
    client = try TLSContext.client(ca: certs.ca.certificate, policy: clientPolicy)
    let context = try TLSContext.server(
      certificate: certs.server.certificate, key: certs.server.key, policy: policy)
    listener = try SocketListener(
      loop: loop, address: SocketAddress(host: "127.0.0.1", port: 0), context: context
    ) { [unowned self] connection in
      let peer = Peer()
      peer.connection = connection
      prepare(peer)
      servers.append(peer)
      return peer
    }
  }

  deinit {
    listener?.stopAccepting()
    for peer in clients + servers { peer.connection?.abort("the test is over") }
  }

  var open: Int { listener?.openConnections.count ?? 0 }

  var address: SocketAddress {
    get throws { try #require(listener).address }
  }

  /// A client on its way.
  func connect(
    serverName: String? = "localhost", alpn: [String] = [], prepare: (Peer) -> Void = { _ in }
  ) throws -> Peer {
    let peer = Peer()
    prepare(peer)
    peer.connection = try TLSClient.connect(
      loop: loop, to: address, serverName: serverName, alpn: alpn, context: client, handler: peer)
    clients.append(peer)
    return peer
  }

  /// An HTTP/2 client on its way; its owner ends it.
  func connectHTTP2(owner: any HTTP2ClientOwner) throws -> HTTP2ClientConnection {
    try HTTP2ClientConnection(
      loop: loop, to: address, serverName: "localhost", context: client, owner: owner)
  }

  /// A client and its server, past the handshake.
  func pair(prepare: (Peer) -> Void = { _ in }) throws -> (client: Peer, server: Peer) {
    let client = try connect(prepare: prepare)
    turn(until: "TLS is up") { client.hasOpened && servers.last?.hasOpened == true }
    return (client, try #require(servers.last))
  }

  func turn(
    until what: Comment, sourceLocation: SourceLocation = #_sourceLocation, _ condition: () -> Bool
  ) {
    let end = SystemClock.now().adding(nanoseconds: Self.timeout)
    while !condition() {
      guard SystemClock.now() < end else {
        Issue.record("waited in vain until \(what)", sourceLocation: sourceLocation)
        return
      }
      heartbeat.start(afterNanoseconds: Self.heartbeatInterval)
      loop.runTurn()
    }
  }

  func settle() {
    for _ in 0..<20 { loop.runTurn(wait: false) }
  }
}

/// One end of a connection. Writes down every call, and does what the test wants in it.
final class Peer: ConnectionHandler {
  var connection: SocketConnection?
  var received: [UInt8] = []
  private(set) var calls: [String] = []
  private(set) var endReason: String?
  private(set) var sawClose = false
  var onOpened: (SocketConnection) -> Void = { _ in }
  var onReceived: (SocketConnection, Span<UInt8>) -> Void = { _, _ in }
  var onDrained: (SocketConnection) -> Void = { _ in }
  /// Nil closes, as whoever has nothing more to say does.
  var onPeerEnded: ((SocketConnection) -> Void)?

  var hasOpened: Bool { calls.contains("opened") }
  var hasEnded: Bool { endReason != nil }

  func send(_ bytes: [UInt8]) { connection?.send(bytes) }

  func connectionOpened(_ connection: SocketConnection) {
    calls.append("opened")
    onOpened(connection)
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    if calls.last != "received" { calls.append("received") }
    received.append(bytes)
    onReceived(connection, bytes)
  }

  func connectionDrained(_ connection: SocketConnection) {
    calls.append("drained")
    onDrained(connection)
  }

  func connectionPeerEnded(_ connection: SocketConnection) {
    calls.append("peer ended")
    if let onPeerEnded { onPeerEnded(connection) } else { connection.close() }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    calls.append("closed")
    (endReason, sawClose) = (reason, connection.peerHasEnded)
  }
}

/// How much is read in a turn (`ReadBudget`).
extension EventLoop {
  static let (readsPerLook, readLimit) = (ReadBudget.readsPerLook, ReadBudget.byteLimit)
  static let usualReadTime = ReadBudget.Times().turn
  static let turnsUntilQuiet = ReadBudget.turnsUntilQuiet

  /// Times in nanoseconds.
  func setReadTimes(turn: Int64, quietTurn: Int64, least: Int64, look: Int64 = ReadBudget.Times().look) {
    readTimes = .init(turn: turn, quietTurn: quietTurn, least: least, look: look)
  }

  /// Who reads on in the next turn, as a count.
  var waitingReaders: Int { unread.count }
  var hasOnlyBusyReaders: Bool { isQuiet }
  /// Of the last turn, as a count.
  var readySockets: Int { wakeups }
  /// In nanoseconds.
  var readTimeOfEach: Int64 { readShare }
}

/// Has something to say, and counts how often it may.
final class Writer: LoopClient {
  private(set) var flushes = 0

  override init(loop: EventLoop) { super.init(loop: loop) }

  func speak() { queueFlush() }

  override func flush() { flushes += 1 }
}

extension SocketConnection {
  /// A half-close of TLS: says that nothing more comes, and reads on. `ofTCP` ends the stream below as well.
  func endOutput(ofTCP: Bool = false) {
    _ = layer.sendClose()
    if ofTCP { _ = shutdown(descriptor, Int32(SHUT_WR)) }
  }

  /// How much the kernel may hold of what this end writes, in bytes.
  func setSendBuffer(_ bytes: Int32) {
    var size = bytes
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }
}

/// Server certificates, made once for the whole run.
enum Keys {
  private static let shared = Result {
    try RunFolder.make(now: Timestamp(nanoseconds: SystemClock.wallNanoseconds()))
  }

  static func folder() throws -> CertsFolder { CertsFolder(path: try shared.get()) }
}
