import Platform

/// An HTTP/1.1 server on the loop, without TLS.
///
/// Ours instead of libevent's `evhttp`, measured with 2.1.12: a client that sends one byte while its long poll is
/// being answered (with reading on, which is the only way to notice that it goes) ends the process in
/// `evhttp_read_cb: illegal connection state`; a request may dribble in for ever; 400 and 413 are answered in
/// HTML that can't be replaced; and connections can't be counted or limited. That breaks promise 3
/// (`Sources/ARCHITECTURE.md#promises`).
package final class HTTPServer {
  package let limits: HTTPLimits
  /// Told of each connection as it comes and when it has gone.
  package var onOpened: ((HTTPConnection) -> Void)?
  package var onClosed: ((HTTPConnection) -> Void)?
  private let loop: EventLoop
  private let listener: SocketListener
  private let clients: Clients

  /// Clients by their sockets, and those of them that are kept for what must be answered, oldest first.
  private final class Clients {
    var all: [ObjectIdentifier: HTTPConnection] = [:]
    var reserve: [HTTPConnection] = []
    /// Who comes now is another node of ours.
    var isNode = false
    /// How many carry an answer without end: whoever writes those has a limit for them.
    var standing = 0

    /// How many may ask for anything.
    var ordinary: Int { all.count - reserve.count - standing }
  }

  /// Binds and listens; throws `SocketError` if the address can't be had. `handler` gets each request and answers
  /// through the exchange, now or later; that of a proxy also CONNECT. `name` is what it is called, for whoever counts. `bodyLimit`
  /// says how many bytes of body a request may have, where that may be more than `limits` say: it is asked before any of the body
  /// is read, and what is longer is answered 413.
  package init(
    loop: EventLoop, address: SocketAddress, limits: HTTPLimits = HTTPLimits(), name: String = "console",
    isProxy: Bool = false, bodyLimit: ((HTTPRequest) -> Int)? = nil,
    handler: @escaping (HTTPExchange) -> Void
  ) throws {
    let clients = Clients()
    (self.loop, self.limits, self.clients) = (loop, limits, clients)
    listener = try SocketListener(loop: loop, address: address, context: nil) { connection in
      let isReserve = clients.ordinary >= limits.connections
      let client = HTTPConnection(
        loop: loop, connection, limits: limits, isReserve: isReserve, isOfProxy: isProxy,
        isNode: clients.isNode, bodyLimit: bodyLimit, handler: handler)
      clients.all[ObjectIdentifier(connection)] = client
      if isReserve { clients.reserve.append(client) }
      client.onStanding = { [unowned clients] standing in
        clients.standing += 1
        clients.reserve.removeAll { $0 === standing }
      }
      return client
    }
    listener.name = name
    listener.findRoom = { [unowned self] in findRoom() }
    listener.onOpened = { [unowned self] in
      if let client = clients.all[ObjectIdentifier($0)] { onOpened?(client) }
    }
    listener.onClosed = { [unowned self] connection, _ in
      guard let client = clients.all.removeValue(forKey: ObjectIdentifier(connection)) else { return }
      clients.reserve.removeAll { $0 === client }
      if client.isStanding { clients.standing -= 1 }
      onClosed?(client)
    }
  }

  deinit {
    listener.onClosed = nil
    abort()
  }

  /// Where it listens, with the real port.
  package var address: SocketAddress { listener.address }
  /// Asked about each client before anything of it is read; nil welcomes all. The address is found out on demand.
  package var admit: ((_ address: () -> SocketAddress) -> Admission)? {
    get { listener.admit }
    set { listener.admit = newValue }
  }

  /// Open connections, in no order.
  package var openConnections: [HTTPConnection] { Array(clients.all.values) }

  /// Takes over a connection of another node of ours, on which everything is said that there was to say: the requests that come on
  /// it have been checked there (`HTTPRequest.isOfNode`).
  package func adopt(node connection: SocketConnection) {
    clients.isNode = true
    listener.adopt(connection)
    clients.isNode = false
  }

  /// Accepts nobody any more; open connections stay.
  package func stopAccepting() { listener.stopAccepting() }

  /// Stops accepting, ends idle connections and streams at once, others after their answer.
  package func shutDown() {
    stopAccepting()
    for connection in openConnections { connection.shutDown() }
  }

  /// Drops every connection without an answer: what was queued is not true.
  package func abort() {
    stopAccepting()
    for connection in openConnections { connection.abort() }
  }

  /// Beyond the ordinary connections there is a reserve, where the next takes the place of who says nothing. Who has come in
  /// this turn is not sent away before it could say anything.
  private func findRoom() -> SocketListener.Room {
    let isFull = clients.ordinary >= limits.connections && clients.reserve.count >= limits.reserve
    guard isFull else { return .free }
    var mayHaveRoom = false
    for client in clients.reserve where client.isReplaceable() {
      if client.turn != loop.turns { return .instead(of: client.connection) }
      mayHaveRoom = true
    }
    return mayHaveRoom ? .later : .none
  }
}
