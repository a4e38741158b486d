import Platform

/// An HTTP/1.1 server on the loop, without TLS.
///
/// Ours instead of libevent's `evhttp`, measured with 2.1.12: a client that sends one byte while its long poll is
/// being answered (with reading on, which is the only way to notice that it goes) ends the process in
/// `evhttp_read_cb: illegal connection state`; a request may dribble in for ever; 400 and 413 are answered in
/// HTML that can't be replaced; and connections can't be counted or limited. That breaks promise 3
/// (`Sources/ARCHITECTURE.md#promises`).
public final class HTTPServer {
  private static let backlog: Int32 = 1024
  private static let sweepInterval: Int64 = 1_000_000_000

  /// What it is called, for whoever counts.
  public var name = "console"
  /// Where it listens, with the real port.
  public let address: SocketAddress
  public let limits: HTTPLimits
  /// Asked about each client before anything of it is read; nil welcomes all. The address is found out on demand.
  public var admit: ((_ address: () -> SocketAddress) -> Admission)?
  /// Told of each connection as it comes and when it has gone.
  public var onOpened: ((HTTPConnection) -> Void)?
  public var onClosed: ((HTTPConnection) -> Void)?
  private let loop: EventLoop
  private let descriptor: Int32
  private let handler: (HTTPExchange) -> Void
  private var connections: [ObjectIdentifier: HTTPConnection] = [:]
  /// Those of the connections that are kept for what must be answered, oldest first.
  private var reserve: [HTTPConnection] = []
  private var acceptEvent: LoopEvent?
  private var sweep: LoopEvent?

  /// Binds and listens; throws `SocketError` if the address can't be had. `handler` gets each request and answers
  /// through the exchange, now or later.
  public init(
    loop: EventLoop, address: SocketAddress, limits: HTTPLimits = HTTPLimits(),
    handler: @escaping (HTTPExchange) -> Void
  ) throws {
    (self.loop, self.limits, self.handler) = (loop, limits, handler)
    descriptor = try ListeningSocket.open(address, backlog: Self.backlog)
    self.address = SocketAddress(host: address.host, port: SocketAddress.of(descriptor, peer: false).port)
    acceptEvent = LoopEvent(loop, descriptor: descriptor, .read) { [unowned self] in acceptAll() }
    sweep = LoopEvent(timerOn: loop) { [unowned self] in endOverdue() }
    acceptEvent?.start()
    sweep?.start(afterNanoseconds: Self.sweepInterval)
    loop.relief.add({ [weak self] in self?.name ?? "" }) { [weak self] in self?.openConnections ?? [] }
  }

  deinit {
    stopAccepting()
    for connection in connections.values {
      connection.onClosed = nil
      connection.abort()
    }
  }

  /// Answers each request at once with what `answer` makes of it.
  public convenience init(
    loop: EventLoop, address: SocketAddress, limits: HTTPLimits = HTTPLimits(),
    answer: @escaping (HTTPRequest) -> HTTPResponse
  ) throws {
    try self.init(loop: loop, address: address, limits: limits) { (exchange: HTTPExchange) in
      exchange.respond(answer(exchange.request))
    }
  }

  /// Open connections, in no order.
  public var openConnections: [HTTPConnection] { Array(connections.values) }

  /// Accepts nobody any more; open connections stay.
  public func stopAccepting() {
    guard acceptEvent != nil else { return }
    acceptEvent?.cancel()
    acceptEvent = nil
    _ = Platform.close(descriptor)
  }

  /// Stops accepting, ends idle connections and streams at once, others after their answer.
  public func shutDown() {
    stopAccepting()
    for connection in openConnections { connection.shutDown() }
  }

  /// Drops every connection without an answer: what was queued is not true.
  public func abort() {
    stopAccepting()
    for connection in openConnections { connection.abort() }
  }

  private func acceptAll() {
    // Who has come in this turn is not sent away for the next one before it could say anything.
    var earlier = reserve.count
    while acceptEvent != nil {
      let victim = isFull ? reserve.prefix(earlier).first { $0.isReplaceable() } : nil
      guard !isFull || victim != nil else { break }
      let accepted = accept(descriptor, nil, nil)
      guard accepted >= 0 else {
        if ListeningSocket.isExhausted { acceptEvent?.cancel() }
        return
      }
      if let victim {
        victim.abort()
        earlier -= 1
      }
      SocketCalls.makeNonBlocking(accepted)
      SocketCalls.setNoDelay(accepted)
      open(accepted)
    }
    // Readiness is told again and again, so it is not listened to while there is no room.
    if !mayHaveRoom { acceptEvent?.cancel() }
  }

  private var mayHaveRoom: Bool { !isFull || reserve.contains { $0.isReplaceable() } }
  private var hasOrdinaryRoom: Bool { connections.count - reserve.count < limits.connections }
  private var isFull: Bool { !hasOrdinaryRoom && reserve.count >= limits.reserve }

  private func open(_ accepted: Int32) {
    let admission = admit?({ SocketAddress.of(accepted, peer: true) }) ?? .welcome
    guard admission == .welcome else { return ListeningSocket.refuse(accepted) }
    let connection = HTTPConnection(
      loop: loop, descriptor: accepted, localPort: address.port, limits: limits, isReserve: !hasOrdinaryRoom,
      handler: handler)
    connections[ObjectIdentifier(connection)] = connection
    if connection.isReserve { reserve.append(connection) }
    connection.onClosed = { [unowned self] in
      connections[ObjectIdentifier($0)] = nil
      reserve.removeAll { [closed = $0] in $0 === closed }
      acceptEvent?.start()
      onClosed?($0)
    }
    onOpened?(connection)
  }

  private func endOverdue() {
    let now = SystemClock.monotonicNanoseconds()
    for connection in openConnections { connection.checkDeadline(now) }
    if mayHaveRoom { acceptEvent?.start() }
    sweep?.start(afterNanoseconds: Self.sweepInterval)
  }
}
