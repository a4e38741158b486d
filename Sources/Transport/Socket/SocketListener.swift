import Basics
import Platform

/// What becomes of a client that has just connected.
public enum Admission: Equatable, Sendable {
  case welcome
  /// The same, and over HTTP/2 it may open so many streams.
  case limited(streams: Int)
  /// The connection ends at once, with a TCP RST.
  case refused
  /// The handshake is answered by a TLS alert with this description (RFC 8446 6.2). Without TLS: as `refused`.
  case alerted(UInt8)

  fileprivate func isLetIn(hasTLS: Bool) -> Bool {
    switch self {
    case .welcome, .limited: true
    case .refused: false
    case .alerted: hasTLS
    }
  }
}

/// Who has a say in the clients of a listener, and hears of them.
public struct ListenerWatch {
  /// Asked about each client before anything of it is read. The address is found out on demand.
  var admit: (_ address: () -> SocketAddress) -> Admission
  /// Told of each connection as it comes, and with the reason as it has gone.
  var opened: (SocketConnection) -> Void
  var closed: (_ connection: SocketConnection, _ reason: String) -> Void

  public init(
    admit: @escaping (_ address: () -> SocketAddress) -> Admission = { _ in .welcome },
    opened: @escaping (SocketConnection) -> Void = { _ in },
    closed: @escaping (_ connection: SocketConnection, _ reason: String) -> Void = { _, _ in }
  ) { (self.admit, self.opened, self.closed) = (admit, opened, closed) }
}

/// A listening socket that turns clients into `SocketConnection`s, with TLS or without, and ends those that take too long.
public final class SocketListener {
  /// Whether there is a place for one more client.
  public enum Room {
    case free
    /// In place of this one, which ends.
    case instead(of: SocketConnection)
    /// Perhaps in the next turn.
    case later
    /// Not before somebody goes.
    case none
  }

  /// Most connections of one listener; further ones wait in the kernel's queue.
  public static let connectionLimit = 50_000
  private static let backlog: Int32 = 4096
  /// Most clients that are accepted in a turn, as a count: what they want follows, in this turn and the next. Thousands that come
  /// at once, a millisecond each where TLS begins, would have everybody else wait until the last of them is served.
  package static let acceptsPerTurn = 16
  private static let sweepInterval: Int64 = 1_000_000_000

  /// Where it listens, with the real port.
  public let address: SocketAddress
  private let watch: ListenerWatch
  private let findRoom: (() -> Room)?
  private let loop: EventLoop
  private let descriptor: Int32
  private let context: TLSContext?
  private let makeHandler: (SocketConnection) -> any ConnectionHandler
  private var connections: [ObjectIdentifier: SocketConnection] = [:]
  private var acceptEvent: LoopEvent?
  private var sweep: LoopEvent?

  /// Binds and listens, with TLS if there is a context; throws `SocketError` if the address can't be had. `name` is what it is
  /// called, for whoever counts. `findRoom` is asked before each client is accepted; without it there is room up to
  /// `connectionLimit`.
  public init(
    loop: EventLoop, address: SocketAddress, context: TLSContext?, name: String = "",
    watch: ListenerWatch = ListenerWatch(), findRoom: (() -> Room)? = nil,
    makeHandler: @escaping (SocketConnection) -> any ConnectionHandler
  ) throws {
    (self.loop, self.context, self.makeHandler) = (loop, context, makeHandler)
    (self.watch, self.findRoom) = (watch, findRoom)
    descriptor = try SocketCalls.listen(address, backlog: Self.backlog)
    self.address = SocketAddress(host: address.host, port: SocketAddress.of(descriptor, peer: false).port)
    acceptEvent = LoopEvent(loop, descriptor: descriptor, .read) { [weak self] in self?.acceptAll() }
    sweep = LoopEvent(timerOn: loop) { [weak self] in self?.endOverdue() }
    acceptEvent?.start()
    sweep?.start(afterNanoseconds: Self.sweepInterval)
    loop.relief.add(name) { [weak self] in self?.openConnections ?? [] }
  }

  /// Open connections, in no order.
  public var openConnections: [SocketConnection] { Array(connections.values) }

  /// Whether a client of another listener would be taken over now.
  public var hasRoom: Bool { acceptEvent != nil && connections.count < Self.connectionLimit }

  /// Takes over the client of a connection on which everything is said that there was to say, as if it had connected here: what
  /// it sends from now on is for this listener. `destination` is what it asked a proxy for.
  public func adopt(_ connection: SocketConnection, askedFor destination: SocketAddress) {
    guard let descriptor = takeOver(connection) else { return }
    open(descriptor, askedFor: destination)
  }

  /// The same for who is known already, and not asked about (`admit`).
  func adopt(_ connection: SocketConnection) {
    guard let descriptor = takeOver(connection) else { return }
    connect(descriptor, .welcome, askedFor: nil)
  }

  private func takeOver(_ connection: SocketConnection) -> Int32? {
    if hasRoom, let descriptor = connection.detach() { return descriptor }
    connection.abort("no room", reset: true)
    return nil
  }

  // A start that fails behind this listener lets go of it.
  deinit { stopAccepting() }

  /// Accepts nobody any more; open connections stay.
  public func stopAccepting() {
    guard acceptEvent != nil else { return }
    acceptEvent?.cancel()
    acceptEvent = nil
    SocketCalls.close(descriptor)
  }

  private func acceptAll() {
    var left = Self.acceptsPerTurn
    while acceptEvent != nil, left > 0 {
      left -= 1
      let room = findRoom?() ?? (connections.count < Self.connectionLimit ? .free : .none)
      switch room {
      case .later: return
      case .none: return pauseAccepting()
      case .free, .instead: break
      }
      guard let accepted = SocketCalls.accept(descriptor) else {
        if SocketCalls.isExhausted { pauseAccepting() }
        return
      }
      if case .instead(of: let evicted) = room { evicted.abort("evicted to accept another client") }
      open(accepted)
    }
  }

  /// Too many connections, or no descriptors left: those who wait stay in the kernel's queue, and would wake the loop
  /// without end. The next that goes, or the sweep, has it tried again.
  private func pauseAccepting() { acceptEvent?.cancel() }

  private func open(_ accepted: Int32, askedFor destination: SocketAddress? = nil) {
    let admission = watch.admit { SocketAddress.of(accepted, peer: true) }
    guard admission.isLetIn(hasTLS: context != nil) else {
      SocketCalls.setResetOnClose(accepted)
      SocketCalls.close(accepted)
      return
    }
    connect(accepted, admission, askedFor: destination)
  }

  private func connect(_ accepted: Int32, _ admission: Admission, askedFor destination: SocketAddress?) {
    do {
      let layer = try SocketLayer(accepted, context, isServer: true)
      // It may outlive this listener.
      let connection = SocketConnection(loop: loop, layer) { [weak self] in self?.closed($0, $1) }
      connection.destination = destination
      welcome(connection, admission)
    } catch {
      SocketCalls.close(accepted)
    }
  }

  private func closed(_ connection: SocketConnection, _ reason: String) {
    connections[ObjectIdentifier(connection)] = nil
    acceptEvent?.start()
    watch.closed(connection, reason)
  }

  private func welcome(_ connection: SocketConnection, _ admission: Admission) {
    connections[ObjectIdentifier(connection)] = connection
    connection.handler = makeHandler(connection)
    switch admission {
    case .alerted(let description): connection.life.setAlert(description)
    case .limited(let streams): connection.streamLimit = streams
    case .welcome, .refused: break
    }
    watch.opened(connection)
    connection.start()
  }

  /// Ends what takes too long, and goes on accepting after a pause.
  private func endOverdue() {
    let now = SystemClock.now()
    for connection in connections.values { connection.endIfOverdue(now) }
    acceptEvent?.start()
    sweep?.start(afterNanoseconds: Self.sweepInterval)
  }
}
