import Basics
import Platform

/// Two connections that hear each other: the client of a listener, and the server that it asked for or is led to. Of them the
/// client may have TLS.
///
///     joined ─ one side ends ─→ the other is told, and may go on ─ it ends too ─→ over
///       ├─ the server ends, and the client has TLS ─→ parting: both end in order ─→ over
///       ├─ the client is gone, and had TLS ─→ parting: what it has said is passed on
///       └─ a side is gone, nothing has moved for too long, or memory is short ─→ over
///
/// A side is read from only while little of what it has said waits for the other (`Limits.backlog`).
///
/// With TLS an end without a TLS close can't be told from a reset, and clients end so that have just said their last: so it is
/// passed on as an end in order. A reset from the server is passed on as one.
public final class SocketTunnel {
  /// Times in nanoseconds, sizes in bytes.
  public struct Limits: Sendable {
    /// How long nothing may move.
    public var idle: Int64
    /// How long nothing may move when there is something to move.
    public var stall: Int64
    /// How much may wait for a side while the other is read from.
    public var backlog: Int

    public init(idle: Int64, stall: Int64, backlog: Int) {
      (self.idle, self.stall, self.backlog) = (idle, stall, backlog)
    }

    /// Of a proxy: one read waits at most, and takes no more of a turn than that, however much is on its way.
    static let proxy = Limits(idle: idleLimit, stall: stallLimit, backlog: 0)
  }

  /// How long nothing may move through a proxy, in nanoseconds: longer than the quietest of usual keep-alives, four minutes.
  static let idleLimit: Int64 = 300_000_000_000
  /// How long nothing may move when there is something to move, in nanoseconds: as for answers (`HTTPLimits.stallTime`). Whether
  /// who does not read is still there can't be told.
  static let stallLimit: Int64 = 60_000_000_000

  private let client: Side
  private let server: Side
  private let limits: Limits
  private let onOver: (SocketTunnel) -> Void
  private var isParting = false
  /// What had moved when the deadline was set, in bytes.
  private var moved = 0

  /// Both are open, and what they say is for this alone from now on. The client's listener keeps its deadline. Of what the server
  /// says the first `skipped` bytes are not passed on.
  init(
    client: SocketConnection, server: SocketConnection, limits: Limits, skipping skipped: Int,
    onOver: @escaping (SocketTunnel) -> Void
  ) {
    (self.client, self.server, self.limits, self.onOver) = (Side(client), Side(server), limits, onOver)
    client.stallLimit = nil
    self.server.toSkip = skipped
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

  /// Ends both sides in order: what has come is passed on before.
  public func close() {
    isParting = true
    for side in [client, server] { side.connection.close() }
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
      isHalfClosed ? SocketConnection.halfClosedLimit : isWaiting ? limits.stall : limits.idle
    moved = movedBytes
    client.connection.deadline = SystemClock.now().adding(nanoseconds: limit)
  }

  // MARK: What a side tells

  fileprivate func side(_ side: Side, received bytes: Span<UInt8>) {
    let receiver = other(than: side).connection
    receiver.send(bytes)
    keepAlive()
    guard receiver.queuedBytes > limits.backlog else { return }
    side.connection.setPaused(true)
    receiver.notifyWhenDrained()
  }

  fileprivate func sideDrained(_ side: Side) {
    let sender = other(than: side)
    sender.connection.setPaused(false)
    keepAlive()
    guard sender.hasEnded else { return }
    // TLS has no end of one side that everybody understands.
    guard !side.connection.layer.hasTLS else { return close() }
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
    end("no bytes were relayed for too long")
  }

  fileprivate func sideIsGone(_ side: Side) {
    let other = other(than: side)
    side.isGone = true
    guard !other.isGone, isParting || side.connection.layer.hasTLS else {
      return end("the other side closed the connection", reset: !other.isGone)
    }
    if !isParting { close() }
  }

  fileprivate final class Side: ConnectionHandler {
    let connection: SocketConnection
    /// Nil when it is over.
    var tunnel: SocketTunnel?
    /// Nothing more comes from there.
    var hasEnded = false
    /// It knows that nothing more comes from the other.
    var wasTold = false
    /// Its connection is no more.
    var isGone = false
    /// Of what comes from there, in bytes.
    var toSkip = 0

    init(_ connection: SocketConnection) { self.connection = connection }

    func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
      let skipped = min(toSkip, bytes.count)
      toSkip -= skipped
      guard skipped < bytes.count else { return }
      tunnel?.side(self, received: bytes.dropping(skipped))
    }
    func connectionDrained(_ connection: SocketConnection) { tunnel?.sideDrained(self) }
    func connectionPeerEnded(_ connection: SocketConnection) { tunnel?.sideEnded(self) }
    func connectionIsOverdue(_ connection: SocketConnection) { tunnel?.sideIsOverdue() }
    func connectionClosed(_ connection: SocketConnection, reason: String) { tunnel?.sideIsGone(self) }
  }
}
