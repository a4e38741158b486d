import Basics
import Platform

/// What a client asks a proxy for, on its way to a server.
public struct ProxyRoute: Sendable {
  /// The server, as the proxy is to look it up.
  public var target: SocketAddress
  /// The value of `Proxy-Authorization`; nil without one.
  public var authorization: String?

  public init(to target: SocketAddress, authorization: String? = nil) {
    (self.target, self.authorization) = (target, authorization)
  }

  fileprivate var request: [UInt8] {
    let credentials = authorization.map { [HTTPField("Proxy-Authorization", $0)] } ?? []
    return HTTPFraming.request(
      "CONNECT", target.description, [HTTPField("Host", target.description)] + credentials)
  }
}

/// A client's first step through a proxy: CONNECT, and what the proxy says to it.
///
///     connecting ─→ asked ─ 200 ─→ done: the connection is the server's from here on, and TLS may begin on it
///         └───────────┴─ anything else ─→ done: why not
final class ProxyHop: ConnectionHandler {
  typealias Completion = (Result<SocketConnection, Failure>) -> Void

  /// Why there is no way through, in a sentence without credentials.
  struct Failure: Error { let sentence: String }

  private let proxy: SocketAddress
  private let route: ProxyRoute
  private var parser: HTTPResponseParser
  private var connection: SocketConnection?
  private var done: Completion?

  /// Connects to the proxy; throws if the system refuses at once. Calls `done` once.
  init(loop: EventLoop, proxy: SocketAddress, _ route: ProxyRoute, _ done: @escaping Completion) throws {
    (self.proxy, self.route, self.done) = (proxy, route, done)
    var limits = HTTPLimits()
    limits.body = 0
    // As to HEAD: what follows the head of a refusal is nothing that is looked at.
    parser = HTTPResponseParser(limits: limits, isAnswerToHead: true)
    connection = try TLSClient.connect(loop: loop, to: proxy, serverName: nil, context: nil, handler: self)
  }

  /// Gives it up.
  func abort(_ reason: String) { connection?.abort(reason) }

  func connectionOpened(_ connection: SocketConnection) { connection.send(route.request) }

  func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    parser.receive(bytes)
    do {
      while let event = try parser.next() {
        guard case .head(let answer) = event else { continue }
        guard (200..<300).contains(answer.status) else { return refused(answer.status) }
        _ = try parser.next()
        return parser.waiting == 0 ? finish(.success(connection)) : end("it sent bytes before TLS began")
      }
    } catch {
      end("it is no HTTP proxy: \(error)")
    }
  }

  func connectionClosed(_ connection: SocketConnection, reason: String) { end(reason) }

  private func refused(_ status: Int) {
    end("it answered \(status) \(HTTPStatus.phrase(status)) to CONNECT \(route.target)")
  }

  private func end(_ reason: String) { finish(.failure(Failure(sentence: "the proxy \(proxy): \(reason)"))) }

  private func finish(_ result: Result<SocketConnection, Failure>) {
    guard let done else { return }
    self.done = nil
    let connection = self.connection
    self.connection = nil
    if case .failure = result { connection?.abort("given up") }
    done(result)
  }
}
