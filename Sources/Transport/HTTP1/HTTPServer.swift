import Platform

/// An HTTP/1.1 server on the loop, without TLS.
///
/// Ours instead of libevent's `evhttp`, measured with 2.1.12: a client that sends one byte while its long poll is
/// being answered (with reading on, which is the only way to notice that it goes) ends the process in
/// `evhttp_read_cb: illegal connection state`; a request may dribble in for ever; 400 and 413 are answered in
/// HTML that can't be replaced; and connections can't be counted or limited. That breaks promise 3
/// (`Sources/ARCHITECTURE.md#promises`).
public final class HTTPServer {
  public let limits: HTTPLimits
  private let listener: SocketListener
  private let clients: Clients

  /// Binds and listens; throws `SocketError` if the address can't be had. `handler` gets each request and answers
  /// through the exchange, now or later; that of a proxy also CONNECT. `name` is what it is called, for whoever counts. `bodyLimit`
  /// says how many bytes of body a request may have, where that may be more than `limits` say: it is asked before any of the body
  /// is read, and what is longer is answered 413.
  public init(
    loop: EventLoop, address: SocketAddress, limits: HTTPLimits = HTTPLimits(), name: String = "console",
    isProxy: Bool = false, watch: ListenerWatch = ListenerWatch(), bodyLimit: ((HTTPRequest) -> Int)? = nil,
    handler: @escaping (HTTPExchange) -> Void
  ) throws {
    let clients = Clients(loop: loop, limits: limits, watch: watch)
    (self.limits, self.clients) = (limits, clients)
    var own = watch
    own.closed = { clients.closed($0, reason: $1) }
    listener = try SocketListener(
      loop: loop, address: address, context: nil, name: name, watch: own, findRoom: { clients.findRoom() }
    ) {
      let client = HTTPConnection(
        loop: loop, $0, limits: limits, isReserve: clients.isFull, isOfProxy: isProxy,
        isNode: clients.isNode, bodyLimit: bodyLimit, onStanding: { [unowned clients] in clients.stands($0) },
        handler: handler)
      clients.opened(client)
      return client
    }
  }

  deinit {
    clients.watch = nil
    abort()
  }

  /// Where it listens, with the real port.
  public var address: SocketAddress { listener.address }
  /// Open connections, in no order.
  public var openConnections: [HTTPConnection] { clients.all }

  /// Takes over a connection of another node of ours, on which everything is said that there was to say: the requests that come on
  /// it have been checked there (`HTTPRequest.isOfNode`).
  public func adopt(node connection: SocketConnection) {
    clients.isNode = true
    listener.adopt(connection)
    clients.isNode = false
  }

  /// Accepts nobody any more; open connections stay.
  public func stopAccepting() { listener.stopAccepting() }

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
}

/// Clients by their sockets, and those of them that are kept for what must be answered, oldest first.
private final class Clients {
  private let loop: EventLoop
  private let limits: HTTPLimits
  /// nil once the server is gone.
  var watch: ListenerWatch?
  private var bySocket: [ObjectIdentifier: HTTPConnection] = [:]
  private var reserve: [HTTPConnection] = []
  /// Who comes now is another node of ours.
  var isNode = false
  /// How many carry an answer without end: whoever writes those has a limit for them.
  private var standing = 0

  init(loop: EventLoop, limits: HTTPLimits, watch: ListenerWatch) {
    (self.loop, self.limits, self.watch) = (loop, limits, watch)
  }

  var all: [HTTPConnection] { Array(bySocket.values) }

  /// Whether there are as many as may ask for anything.
  var isFull: Bool { bySocket.count - reserve.count - standing >= limits.connections }

  func opened(_ client: HTTPConnection) {
    bySocket[ObjectIdentifier(client.connection)] = client
    if client.isReserve { reserve.append(client) }
  }

  func stands(_ client: HTTPConnection) {
    standing += 1
    reserve.removeAll { $0 === client }
  }

  func closed(_ connection: SocketConnection, reason: String) {
    guard let client = bySocket.removeValue(forKey: ObjectIdentifier(connection)) else { return }
    reserve.removeAll { $0 === client }
    if client.isStanding { standing -= 1 }
    watch?.closed(connection, reason)
  }

  /// Beyond the ordinary connections there is a reserve, where the next takes the place of who says nothing. Who has come in
  /// this turn is not sent away before it could say anything.
  func findRoom() -> SocketListener.Room {
    guard isFull, reserve.count >= limits.reserve else { return .free }
    var mayHaveRoom = false
    for client in reserve where client.isReplaceable() {
      if client.turn != loop.turns { return .instead(of: client.connection) }
      mayHaveRoom = true
    }
    return mayHaveRoom ? .later : .none
  }
}
