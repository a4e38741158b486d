import Basics
import Platform

/// What became of a request.
public enum HTTP2Outcome {
  /// The answer, lent for the call. Its body is cut short if the connection ended behind a header that says 200.
  case answered(HTTP2ClientStream)
  /// The server certainly did not act on it: it may be sent again.
  case refused(reason: String)
  /// Nobody can say whether the server acted on it.
  case lost(reason: String)
}

/// Whoever sends requests on a client connection. Calls come on the loop; the connection keeps its owner until it is closed.
public protocol HTTP2ClientOwner: AnyObject {
  /// A request has come to its end. `context` is what `send` was given.
  func connection(_ connection: HTTP2ClientConnection, settled context: Int, _ outcome: HTTP2Outcome)
  /// TLS is up, or something came: there may be room for requests. What is sent in the call leaves after it.
  func connectionAdvanced(_ connection: HTTP2ClientConnection)
  /// The server's GOAWAY is here: the connection takes no more requests, and closes when those on it have ended.
  func connectionLeaving(_ connection: HTTP2ClientConnection)
  /// It is gone, for good; every request on it was settled before.
  func connectionClosed(_ connection: HTTP2ClientConnection, reason: String)
}

extension HTTP2ClientOwner {
  public func connectionAdvanced(_ connection: HTTP2ClientConnection) {}
  public func connectionLeaving(_ connection: HTTP2ClientConnection) {}
}

/// A client's HTTP/2 connection over TLS.
///
///     connecting ─ TLS, ALPN ─→ open ─ GOAWAY, `leave` ─→ leaving ─ last answer ─→ closed
///         └──────────── refused, lost, silent for too long ──────────────────────────↑
public final class HTTP2ClientConnection: ConnectionHandler {
  /// Most requests at a time, as a count: what Apple grants (`Documentation/provider-api.md#settings`), even where the
  /// server names no limit.
  public static let streamLimit = 1000
  private static let protocolName = "h2"

  private enum State { case connecting, open, leaving, closed }

  private let session: HTTP2ClientSession
  private var state = State.connecting
  private var owner: (any HTTP2ClientOwner)?
  private var connection: SocketConnection?
  /// While a proxy is asked for the server; there is no connection then.
  private var hop: ProxyHop?
  /// When it was begun, something came, or the first request went out after a rest; monotonic nanoseconds.
  private var lastSign = SystemClock.now()
  /// Requests that were answered, as a count.
  public private(set) var answers = 0
  /// Whether TLS came up, with HTTP/2 agreed on.
  public private(set) var wasOpened = false
  /// Why the server's certificate was refused, if it was.
  public private(set) var certificateProblem: String?

  /// Begins to connect; throws if the system refuses at once. With a route `address` is that of a proxy, which is asked for it.
  public init(
    loop: EventLoop, to address: SocketAddress, through route: ProxyRoute? = nil, serverName: String,
    context: TLSContext, owner: any HTTP2ClientOwner
  ) throws {
    guard let session = HTTP2ClientSession() else {
      throw SocketError(operation: "connect to", address: address.description, sentence: "out of memory")
    }
    (self.session, self.owner) = (session, owner)
    if let route {
      hop = try ProxyHop(loop: loop, proxy: address, route) { self.proxyAnswered($0, serverName, context) }
      return
    }
    connection = try TLSClient.connect(
      loop: loop, to: address, serverName: serverName, alpn: [Self.protocolName], context: context,
      handler: self)
  }

  /// Whether the server's SETTINGS have come.
  public var isReady: Bool { session.peerSettingsFrames > 0 }
  /// Whether it takes requests.
  public var isOpen: Bool { state == .open }
  /// Whether nothing more comes.
  public var isClosed: Bool { state == .closed }
  /// Requests that have not come to an end.
  public var openStreams: Int { session.openStreams }
  /// The server's GOAWAY.
  public var goAway: HTTP2GoAway? { session.peerGoAway }

  /// How many requests the server takes now; none before it has said how many.
  public var room: Int {
    guard state == .open, isReady, goAway == nil else { return 0 }
    return max(0, min(Self.streamLimit, session.peerMaximumConcurrentStreams) - openStreams)
  }

  /// Sends a request with the next `flush`, as soon as the server has room; false if the connection takes no more.
  public func send(_ head: HTTP2RequestHead, path: String, body: [UInt8], context: Int = 0) -> Bool {
    guard state == .connecting || state == .open else { return false }
    if openStreams == 0 { lastSign = SystemClock.now() }
    return session.submit(head, path: path, body: body, context: context)
  }

  /// Hands what was sent to the connection.
  public func flush() {
    guard let connection, connection.isOpen else { return }
    session.drainOutput { connection.send($0) }
  }

  /// Gives up on one request, if it is here; it is lost.
  public func cancel(_ context: Int) {
    guard let stream = session.liveStreams.first(where: { $0.context == context }) else { return }
    session.reset(stream, .cancel)
    flush()
    settleEnded()
    if state == .leaving, openStreams == 0 { close() }
  }

  /// Gives up on a server that owes answers, or its first word, and has shown no sign of life for so many nanoseconds.
  public func endIfSilent(for limit: Int64, now: Instant) {
    guard openStreams > 0 || !isReady, now.nanoseconds(since: lastSign) > limit else { return }
    let reason = "no answer within \(limit / 1_000_000_000) seconds"
    hop?.abort(reason)
    connection?.abort(reason)
  }

  /// Takes no more requests, and closes when those on it have ended.
  public func leave() {
    guard !isClosed else { return }
    state = .leaving
    if openStreams == 0 { close() }
  }

  /// Closes in order; what was not answered is lost.
  public func close() {
    session.goAway()
    flush()
    hop?.abort("closed")
    connection?.close()
  }

  /// Ends it as a client that has what it came for, with no wait for the server.
  public func end() {
    session.goAway()
    flush()
    hop?.abort("done")
    connection?.end()
  }

  // MARK: What the connection tells

  private func proxyAnswered(
    _ result: Result<SocketConnection, ProxyHop.Failure>, _ serverName: String, _ context: TLSContext
  ) {
    hop = nil
    lastSign = SystemClock.now()
    do {
      connection = try TLSClient.secure(
        result.get(), serverName: serverName, alpn: [Self.protocolName], context: context, handler: self)
    } catch let failure as ProxyHop.Failure {
      closed(because: failure.sentence)
    } catch {
      closed(because: "\(error)")
    }
  }

  public func connectionOpened(_ connection: SocketConnection) {
    guard connection.alpn == Self.protocolName else {
      return connection.abort("not an HTTP/2 server: it did not choose \"\(Self.protocolName)\" by ALPN")
    }
    (state, wasOpened) = (state == .connecting ? .open : state, true)
    lastSign = SystemClock.now()
    owner?.connectionAdvanced(self)
    flush()
  }

  public func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    lastSign = SystemClock.now()
    let status = session.receive(bytes)
    settleEnded()
    if case .failed(let reason) = status { return connection.abort("HTTP/2: \(reason)") }
    if goAway != nil, state == .open {
      state = .leaving
      owner?.connectionLeaving(self)
    }
    owner?.connectionAdvanced(self)
    flush()
    if state == .leaving, openStreams == 0 { connection.close() }
  }

  public func connectionClosed(_ connection: SocketConnection, reason: String) {
    certificateProblem = wasOpened ? nil : connection.peerCertificateProblem
    closed(because: reason)
  }

  private func closed(because reason: String) {
    (state, connection) = (.closed, nil)
    let owner = self.owner
    for stream in session.liveStreams.sorted(by: { $0.streamID < $1.streamID }) {
      owner?.connection(self, settled: stream.context, outcome(ofOrphan: stream, reason))
    }
    self.owner = nil
    owner?.connectionClosed(self, reason: reason)
  }

  private func settleEnded() {
    while let event = session.nextEvent() {
      switch event {
      case .answered(let stream):
        answers += 1
        owner?.connection(self, settled: stream.context, .answered(stream))
      case .reset(let stream, let code):
        let reason = "the stream was reset with \(code)"
        owner?.connection(
          self, settled: stream.context,
          code == .refusedStream ? .refused(reason: reason) : .lost(reason: reason))
      }
    }
  }

  /// A header that says 200 is an answer, whatever has become of what should follow; any other says that the request was not
  /// granted. Without one nobody knows.
  private func outcome(ofOrphan stream: HTTP2ClientStream, _ reason: String) -> HTTP2Outcome {
    switch stream.status {
    case 0: .lost(reason: reason)
    case 200: .answered(stream)
    default: .refused(reason: reason)
    }
  }
}
