import Platform

/// One `POST` over HTTP/1.1 on a loop, with TLS or without: a connection of its own, one answer of which the status counts.
///
///     resolving (its owner) ─→ connecting ─ up ─→ asked ─ head, body ─→ over
///                                  └─── refused, lost, overdue ──────────↑
///
/// Its end is told once, by `then`.
public final class HTTPPost: ConnectionHandler {
  /// Most bytes of an answer that are read, head and body.
  private static let answerLimit = 64 << 10

  private let request: [UInt8]
  private var then: ((Result<Int, SocketError>) -> Void)?
  private let name: String
  private var connection: SocketConnection?
  private var parser: HTTPResponseParser
  private var status: Int?
  /// Whether a server was there. If not, another address may do.
  public private(set) var wasConnected = false
  private var timer: LoopEvent?

  /// Begins; `address` is numeric. `context` is for `https`.
  public init(
    loop: EventLoop, to url: WebAddress, at address: SocketAddress, context: TLSContext?,
    contentType: String, body: [UInt8], within limit: Int64,
    then: @escaping (Result<Int, SocketError>) -> Void
  ) throws {
    (self.then, name) = (then, url.authority)
    request = Self.request(url, contentType, body)
    var limits = HTTPLimits()
    limits.body = Self.answerLimit
    parser = HTTPResponseParser(limits: limits, isAnswerToHead: false)
    connection = try TLSClient.connect(
      loop: loop, to: address, serverName: url.isSecure ? url.server.host : nil,
      context: url.isSecure ? context : nil, handler: self)
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      end(.failure(problem("no answer within \(limit / 1_000_000_000) s")))
    }
    timer?.start(afterNanoseconds: limit)
  }

  /// Gives up, and tells nobody.
  public func cancel() {
    then = nil
    end(.failure(problem("cancelled")))
  }

  private static func request(_ url: WebAddress, _ contentType: String, _ body: [UInt8]) -> [UInt8] {
    let head =
      "POST \(url.target) HTTP/1.1\r\nHost: \(url.authority)\r\nContent-Type: \(contentType)\r\n"
      + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
    return Array(head.utf8) + body
  }

  // MARK: What the connection tells

  public func connectionOpened(_ connection: SocketConnection) {
    wasConnected = true
    connection.send(request)
  }

  public func connection(_ connection: SocketConnection, received bytes: UnsafeRawBufferPointer) {
    parser.receive(bytes)
    do throws(HTTPParseFailure) {
      while let event = try parser.next() {
        switch event {
        case .head(let head): status = head.status
        case .piece: break
        case .end: return answered()
        }
      }
    } catch {
      // The status counts, whatever comes behind it.
      status == nil ? end(.failure(problem("a bad answer: \(error)"))) : answered()
    }
  }

  public func connectionPeerEnded(_ connection: SocketConnection) { answered() }

  public func connectionClosed(_ connection: SocketConnection, reason: String) {
    self.connection = nil
    wasConnected = wasConnected || connection.peerCertificateProblem != nil
    let trust = connection.peerCertificateProblem.map { "its certificate was not accepted: \($0)" }
    if let status { end(.success(status)) } else { end(.failure(problem(trust ?? reason))) }
  }

  private func answered() {
    end(status.map { .success($0) } ?? .failure(problem("it ended the connection without an answer")))
  }

  private func problem(_ sentence: String) -> SocketError {
    SocketError(operation: "post to", address: name, sentence: sentence)
  }

  private func end(_ result: Result<Int, SocketError>) {
    timer?.cancel()
    let (then, connection) = (then, connection)
    (self.then, self.connection) = (nil, nil)
    connection?.end()
    then?(result)
  }
}
