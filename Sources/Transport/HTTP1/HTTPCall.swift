import Platform

/// One request over HTTP/1.1 on a loop, with TLS or without: a connection of its own, and the answer as it comes.
///
///     connecting ─ up ─→ asked ─ head, pieces ─→ answering ─ end ─→ over
///         └────────────────┴──── refused, lost, a bad answer ────────↑
public final class HTTPCall: ConnectionHandler {
  public enum Event {
    /// Status and fields; the body follows in pieces.
    case head(HTTPResponse)
    case piece([UInt8])
    /// The answer is whole. It is the last.
    case end
    /// There is no answer, or no more of it. It is the last.
    case lost(Loss)
  }

  public enum Loss: CustomStringConvertible {
    /// Nobody is there.
    case unreachable(String)
    case badAnswer(HTTPParseFailure)
    /// The server has ended its side amid the answer, or before it.
    case ended
    case broken(String)

    public var description: String {
      switch self {
      case .unreachable(let why): "can't connect: \(why)"
      case .badAnswer(let failure): "a bad answer: \(failure)"
      case .ended: "it ended the connection without an answer"
      case .broken(let reason): reason
      }
    }
  }

  private let request: [UInt8]
  private var parser: HTTPResponseParser
  private var connection: SocketConnection?
  /// Who waits for the answer; nil when that is over.
  private var hear: ((Event) -> Void)?
  /// Whether a server was there.
  public private(set) var wasConnected = false

  /// Posts `body` to a server at `address`, which is numeric, and reads so many bytes of an answer. `context` is for `https`.
  public convenience init(
    loop: EventLoop, posting body: [UInt8], ofType contentType: String, to url: WebAddress,
    at address: SocketAddress, context: TLSContext?, answerLimit: Int, hear: @escaping (Event) -> Void
  ) throws {
    var limits = HTTPLimits()
    limits.body = answerLimit
    let fields = [
      HTTPField("Host", url.authority), HTTPField("Content-Type", contentType),
      HTTPField("Connection", "close"),
    ]
    try self.init(
      loop: loop, to: address, serverName: url.isSecure ? url.server.host : nil,
      context: url.isSecure ? context : nil, HTTPFraming.request("POST", url.target, fields, body: body),
      limits: limits, hear: hear)
  }

  /// Begins; without a context there is no TLS.
  init(
    loop: EventLoop, to address: SocketAddress, serverName: String? = nil, context: TLSContext? = nil,
    _ request: [UInt8], limits: HTTPLimits, isHead: Bool = false, hear: @escaping (Event) -> Void
  ) throws {
    (self.request, self.hear) = (request, hear)
    parser = HTTPResponseParser(limits: limits, isAnswerToHead: isHead)
    connection = try TLSClient.connect(
      loop: loop, to: address, serverName: serverName, context: context, handler: self)
    // A server may answer before it has read the whole request, and end.
    connection?.readsWhenCut = true
  }

  /// Nobody wants to hear more.
  public func end() {
    let connection = connection
    (self.connection, hear) = (nil, nil)
    connection?.end()
  }

  private func finish(_ event: Event) {
    let hear = hear
    end()
    hear?(event)
  }

  // MARK: What the connection tells

  public func connectionOpened(_ connection: SocketConnection) {
    wasConnected = true
    connection.send(request)
  }

  public func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    parser.receive(bytes)
    do throws(HTTPParseFailure) {
      while hear != nil, let event = try parser.next() {
        switch event {
        case .head(let head): hear?(.head(head))
        case .piece(let bytes): hear?(.piece(bytes))
        case .end: finish(.end)
        }
      }
    } catch { finish(.lost(.badAnswer(error))) }
  }

  public func connectionPeerEnded(_ connection: SocketConnection) {
    finish(parser.mayEnd ? .end : .lost(.ended))
  }

  public func connectionClosed(_ connection: SocketConnection, reason: String) {
    let trust = connection.peerCertificateProblem.map { "its certificate was not accepted: \($0)" }
    wasConnected = wasConnected || trust != nil
    finish(
      .lost(
        connection.hasConnected
          ? .broken(trust ?? reason) : .unreachable(connection.connectFailure ?? reason)))
  }
}
