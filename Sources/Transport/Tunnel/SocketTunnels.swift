import Basics
import Platform

/// The tunnels of a listener. It owns them: whatever is left of one when this goes is dropped with it, as when the loop stands still
/// while a side is still parting. Each side holds its connection, and the connection the side.
public final class SocketTunnels {
  /// How often servers are looked for that do not end, in nanoseconds: no listener looks after them.
  static let sweepInterval: Int64 = 5_000_000_000

  private let limits: SocketTunnel.Limits
  private let sweepInterval: Int64
  private var tunnels: [ObjectIdentifier: SocketTunnel] = [:]
  private var sweep: LoopEvent?
  private var isSweeping = false

  /// `name` is that of the listener, for whoever counts who was evicted.
  public convenience init(loop: EventLoop, name: String, limits: SocketTunnel.Limits? = nil) {
    self.init(loop: loop, name: name, limits: limits, sweepInterval: Self.sweepInterval)
  }

  init(loop: EventLoop, name: String, limits: SocketTunnel.Limits?, sweepInterval: Int64) {
    (self.limits, self.sweepInterval) = (limits ?? .proxy, sweepInterval)
    loop.relief.add(name) { [weak self] in self?.tunnels.values.map(\.serverConnection) ?? [] }
    sweep = LoopEvent(timerOn: loop) { [weak self] in self?.endOverdue() }
  }

  deinit { endAll() }

  /// As a count.
  public var count: Int { tunnels.count }

  /// Lets a client that nobody else hears any more and a server that is connected hear each other. Of what the server says the
  /// first `skipped` bytes are not passed on. `onOver` is called once, unless there is no tunnel as one of them is gone.
  @discardableResult
  public func join(
    _ client: SocketConnection, _ server: SocketConnection, skipping skipped: Int = 0,
    onOver: @escaping () -> Void = {}
  ) -> SocketTunnel? {
    guard client.isOpen, server.isOpen else {
      for connection in [client, server] {
        connection.abort("the other side closed the connection", reset: true)
      }
      return nil
    }
    let tunnel = SocketTunnel(client: client, server: server, limits: limits, skipping: skipped) {
      [weak self] in
      self?.tunnels[ObjectIdentifier($0)] = nil
      onOver()
    }
    tunnels[ObjectIdentifier(tunnel)] = tunnel
    startSweeping()
    return tunnel
  }

  /// Drops all of them.
  public func endAll() {
    for tunnel in tunnels.values { tunnel.end("the emulator is shutting down") }
  }

  /// Ends all of them in order.
  public func closeAll() {
    for tunnel in tunnels.values { tunnel.close() }
  }

  private func startSweeping() {
    guard !isSweeping else { return }
    isSweeping = true
    sweep?.start(afterNanoseconds: sweepInterval)
  }

  private func endOverdue() {
    isSweeping = false
    let now = SystemClock.now()
    for tunnel in tunnels.values { tunnel.serverConnection.endIfOverdue(now) }
    if !tunnels.isEmpty { startSweeping() }
  }
}
