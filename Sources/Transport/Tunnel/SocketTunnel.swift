import Platform

/// Two connections without TLS that hear each other: the client of a proxy, and the server that it asked for.
///
///     joined ─ one side ends ─→ the other is told, and may go on ─ it ends too ─→ over
///       └─ a side is gone, nothing has moved for too long, or memory is short ─→ over
///
/// A side is read from only when the other has taken what had come: so a tunnel holds one read at most in each direction, and
/// takes no more of a turn than that, however much is on its way.
final class SocketTunnel {
  /// How long nothing may move, in nanoseconds: longer than the quietest of usual keep-alives, four minutes.
  static let idleLimit: Int64 = 300_000_000_000
  /// How long nothing may move when there is something to move, in nanoseconds: as for answers (`HTTPLimits.stallTime`). Whether
  /// who does not read is still there can't be told.
  static let stallLimit: Int64 = 60_000_000_000

  private let client: Side
  private let server: Side
  private let onOver: (SocketTunnel) -> Void
  /// What had moved when the deadline was set, in bytes.
  private var moved = 0

  /// Both are open, and what they say is for this alone from now on. The client's listener keeps its deadline.
  init(client: SocketConnection, server: SocketConnection, onOver: @escaping (SocketTunnel) -> Void) {
    (self.client, self.server, self.onOver) = (Side(client), Side(server), onOver)
    client.stallLimit = nil
    (self.client.tunnel, self.server.tunnel) = (self, self)
    (client.handler, server.handler) = (self.client, self.server)
    keepAlive()
    client.setPaused(false)
    server.setPaused(false)
  }

  /// The side that is no client of a listener.
  var serverConnection: SocketConnection { server.connection }

  /// Drops both sides.
  func end(_ reason: String, reset: Bool = false) {
    guard client.tunnel != nil else { return }
    (client.tunnel, server.tunnel) = (nil, nil)
    for side in [client, server] { side.connection.abort(reason, reset: reset) }
    onOver(self)
  }

  private func other(than side: Side) -> Side { side === client ? server : client }

  private var movedBytes: Int {
    client.connection.bytesRead + client.connection.bytesWritten + server.connection.bytesRead
      + server.connection.bytesWritten
  }

  private func keepAlive() {
    let isHalfClosed = client.hasEnded || server.hasEnded
    let isWaiting = client.connection.queuedBytes + server.connection.queuedBytes > 0
    let limit =
      isHalfClosed ? SocketConnection.halfClosedLimit : isWaiting ? Self.stallLimit : Self.idleLimit
    moved = movedBytes
    client.connection.deadline = SystemClock.monotonicNanoseconds() + limit
  }

  // MARK: What a side tells

  fileprivate func side(_ side: Side, received bytes: UnsafeRawBufferPointer) {
    let receiver = other(than: side).connection
    receiver.send(bytes)
    side.connection.setPaused(true)
    receiver.notifyWhenDrained()
    keepAlive()
  }

  fileprivate func sideDrained(_ side: Side) {
    let sender = other(than: side)
    sender.connection.setPaused(false)
    keepAlive()
    guard sender.hasEnded else { return }
    side.connection.tellEnd()
    side.wasTold = true
    if client.wasTold, server.wasTold { end("both sides have ended") }
  }

  fileprivate func sideEnded(_ side: Side) {
    side.hasEnded = true
    keepAlive()
    other(than: side).connection.notifyWhenDrained()
  }

  /// Who takes little at a time is no less alive.
  fileprivate func sideIsOverdue() {
    guard movedBytes == moved else { return keepAlive() }
    end("nothing moved for too long")
  }

  fileprivate final class Side: ConnectionHandler {
    let connection: SocketConnection
    /// Nil when it is over.
    var tunnel: SocketTunnel?
    /// Nothing more comes from there.
    var hasEnded = false
    /// It knows that nothing more comes from the other.
    var wasTold = false

    init(_ connection: SocketConnection) { self.connection = connection }

    func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
      tunnel?.side(self, received: bytes)
    }
    func connectionDrained(_ connection: SocketConnection) { tunnel?.sideDrained(self) }
    func connectionPeerEnded(_ connection: SocketConnection) { tunnel?.sideEnded(self) }
    func connectionIsOverdue(_ connection: SocketConnection) { tunnel?.sideIsOverdue() }
    func connectionClosed(_ connection: SocketConnection, reason: String) {
      tunnel?.end("the other side is gone", reset: true)
    }
  }
}

/// The tunnels of a proxy.
public final class SocketTunnels {
  private var tunnels: [ObjectIdentifier: SocketTunnel] = [:]

  /// `name` is that of the listener, for whoever counts who had to give way.
  public init(loop: EventLoop, name: String) {
    loop.relief.add({ name }) { [weak self] in self?.tunnels.values.map(\.serverConnection) ?? [] }
  }

  /// As a count.
  public var count: Int { tunnels.count }

  /// Lets a client that has just become a tunnel (`HTTPExchange.becomeTunnel`) and a server that is connected hear each other.
  public func join(_ client: SocketConnection, _ server: SocketConnection) {
    guard client.isOpen, server.isOpen else {
      for connection in [client, server] { connection.abort("the other side is gone", reset: true) }
      return
    }
    let tunnel = SocketTunnel(client: client, server: server) { [weak self] in
      self?.tunnels[ObjectIdentifier($0)] = nil
    }
    tunnels[ObjectIdentifier(tunnel)] = tunnel
  }

  /// Drops all of them.
  public func endAll() {
    for tunnel in tunnels.values { tunnel.end("the emulator is shutting down") }
  }
}
