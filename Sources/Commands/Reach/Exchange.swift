import Basics
import Platform
import Transport

/// One TLS connection on which something is sent once and everything that comes is collected.
final class Exchange: ConnectionHandler {
  private let client: ClientLoop
  private let request: [UInt8]
  /// Everything that came.
  private(set) var received: [UInt8] = []
  /// Why the other side ended the connection, or it never came about; nil if this side ended it.
  private var ending: String?
  private(set) var wasOpened = false
  private var openedAt = Instant.distantPast
  /// How long it took until the system had taken all that was sent.
  private(set) var sendingNanoseconds: Int64?
  /// Stops the loop when it says yes to what has come so far.
  private let isEnough: ([UInt8]) -> Bool

  private init(_ client: ClientLoop, sending request: [UInt8], isEnough: @escaping ([UInt8]) -> Bool) {
    (self.client, self.request, self.isEnough) = (client, request, isEnough)
  }

  /// Connects, sends, and collects until the other side ends, `isEnough`, or the time is over.
  static func perform(
    sending request: [UInt8], to address: SocketAddress, serverName: String, context: TLSContext,
    limit nanoseconds: Int64?, isEnough: @escaping ([UInt8]) -> Bool = { _ in false }
  ) throws -> Exchange {
    let client = try ClientLoop()
    let exchange = Exchange(client, sending: request, isEnough: isEnough)
    let connection = try TLSClient.connect(
      loop: client.loop, to: address, serverName: serverName, context: context, handler: exchange)
    client.run(limit: nanoseconds)
    if exchange.ending == nil {
      connection.end()
      // Which says why this side has ended it.
      exchange.ending = nil
    }
    if let refusal = exchange.ending.flatMap(TLSRefusal.init) { throw refusal }
    guard exchange.wasOpened else { throw RunningEmulator.unreachable(address, exchange.ending) }
    return exchange
  }

  /// Whether the other side ended it.
  var isClosed: Bool { ending != nil }

  func connectionOpened(_ connection: SocketConnection) {
    wasOpened = true
    openedAt = SystemClock.now()
    connection.send(request)
    connection.notifyWhenDrained()
  }

  func connectionDrained(_ connection: SocketConnection) {
    sendingNanoseconds = sendingNanoseconds ?? SystemClock.now().nanoseconds(since: openedAt)
  }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    received.append(bytes)
    if isEnough(received) { client.stop() }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) {
    ending = reason
    client.stop()
  }
}

extension TLSRefusal {
  /// What `send` says of a push that could not be sent; `members` tell of the interface.
  package func json(_ members: [(String, JSONValue)]) -> JSONValue {
    .object(members + [("accepted", false), ("explanation", .string(description))])
  }
}
