import Platform

/// A listening socket that turns connections into `TLSConnection`s.
public final class TLSListener {
  /// Most connections of one listener; further ones wait in the kernel's queue.
  public static let connectionLimit = 50_000
  private static let backlog: Int32 = 4096
  private static let sweepInterval: Int64 = 1_000_000_000

  /// What it is called, for whoever counts.
  public var name = ""
  /// Where it listens, with the real port.
  public let address: SocketAddress
  /// Asked about each client before anything of it is read; nil welcomes all. The address is found out on demand.
  public var admit: ((_ address: () -> SocketAddress) -> Admission)?
  /// Told of each connection as it comes, and with the reason as it has gone.
  public var onOpened: ((TLSConnection) -> Void)?
  public var onClosed: ((_ connection: TLSConnection, _ reason: String) -> Void)?
  private let loop: EventLoop
  private let descriptor: Int32
  private let context: TLSContext
  private let makeHandler: (TLSConnection) -> any ConnectionHandler
  private var connections: [ObjectIdentifier: TLSConnection] = [:]
  private var acceptEvent: LoopEvent?
  private var sweep: LoopEvent?

  /// Binds and listens; throws `SocketError` if the address can't be had.
  public init(
    loop: EventLoop, address: SocketAddress, context: TLSContext,
    makeHandler: @escaping (TLSConnection) -> any ConnectionHandler
  ) throws {
    (self.loop, self.context, self.makeHandler) = (loop, context, makeHandler)
    descriptor = try ListeningSocket.open(address, backlog: Self.backlog)
    self.address = SocketAddress(host: address.host, port: SocketAddress.of(descriptor, peer: false).port)
    acceptEvent = LoopEvent(loop, descriptor: descriptor, .read) { [unowned self] in acceptAll() }
    sweep = LoopEvent(timerOn: loop) { [unowned self] in endOverdue() }
    acceptEvent?.start()
    sweep?.start(afterNanoseconds: Self.sweepInterval)
    loop.relief.add({ [weak self] in self?.name ?? "" }) { [weak self] in self?.openConnections ?? [] }
  }

  /// Open connections, in no order.
  public var openConnections: [TLSConnection] { Array(connections.values) }

  /// Accepts nobody any more; open connections stay.
  public func stopAccepting() {
    guard acceptEvent != nil else { return }
    acceptEvent?.cancel()
    acceptEvent = nil
    _ = Platform.close(descriptor)
  }

  private func acceptAll() {
    while acceptEvent != nil {
      guard connections.count < Self.connectionLimit else { return pauseAccepting() }
      let accepted = accept(descriptor, nil, nil)
      guard accepted >= 0 else {
        if ListeningSocket.isExhausted { pauseAccepting() }
        return
      }
      SocketCalls.makeNonBlocking(accepted)
      SocketCalls.setNoDelay(accepted)
      open(accepted)
    }
  }

  /// Too many connections, or no descriptors left: those who wait stay in the kernel's queue, and would wake the loop
  /// without end. The sweep tries again.
  private func pauseAccepting() { acceptEvent?.cancel() }

  private func open(_ accepted: Int32) {
    let admission = admit?({ SocketAddress.of(accepted, peer: true) }) ?? .welcome
    guard admission != .refused else { return ListeningSocket.refuse(accepted) }
    guard
      let connection = try? TLSConnection(loop: loop, context: context, descriptor: accepted, isServer: true)
    else {
      _ = Platform.close(accepted)
      return
    }
    connections[ObjectIdentifier(connection)] = connection
    connection.onClosed = { [unowned self] in
      connections[ObjectIdentifier($0)] = nil
      onClosed?($0, $1)
    }
    connection.handler = makeHandler(connection)
    if case .alerted(let description) = admission { connection.setAlert(description) }
    onOpened?(connection)
    connection.start()
  }

  /// Ends handshakes and closes that take too long, and goes on accepting after a pause.
  private func endOverdue() {
    let now = SystemClock.monotonicNanoseconds()
    for connection in connections.values {
      if connection.deadline < now { connection.timeIsOver() }
      if connection.isStalled { connection.endIfPeerIsGone() }
    }
    acceptEvent?.start()
    sweep?.start(afterNanoseconds: Self.sweepInterval)
  }
}
