import Basics
import Platform

/// One client of an `HTTPServer`. Requests are answered one after the other; what a client sends ahead waits.
///
///     reading ─ request whole → answering ─ answer whole → reading … ─→ draining ─→ the socket's own end
///        └─ bad request, too slow ─────────────────────────────────────────┘
///
/// Of a proxy, CONNECT leads from answering by *leaving* (200 is on its way, and nothing more is read) to *ended*: the socket has
/// another owner then.
///
/// Answers leave at the end of the loop's turn, so a client hears of nothing that the store has not committed
/// (`Sources/ARCHITECTURE.md#promises` 1).
public final class HTTPConnection {
  private enum State {
    case reading
    /// The connection owns the exchange until its answer is whole.
    case answering(HTTPExchange, Form)
    /// What is queued leaves, then the connection is somebody else's.
    case leaving(HTTPExchange, to: (SocketConnection) -> Void)
    /// What is queued leaves, then the connection ends, or only its own side.
    case draining(waitsForPeer: Bool)
    /// Nothing more is said or heard.
    case ended
  }

  /// How the answer is written.
  private enum Form { case whole, chunked, untilEnd }

  /// Answers that may wait to be written before the next pipelined request is taken up, in bytes.
  private static let answerBacklog = 1 << 20
  /// Of an answer without end, how much the system may take that it can't send yet, in bytes: a client that does not read is
  /// found out soon, and holds no megabytes that nobody counts. As much as a first buffer.
  private static let standingUnsent = Int32(OutputBuffer.chunk)

  let limits: HTTPLimits
  /// Takes one request that must be answered however full the server is.
  package let isReserve: Bool
  /// The turn in which the client came.
  let turn: Int
  /// The client is another node of ours.
  private let isNode: Bool
  private let loop: EventLoop
  let connection: SocketConnection
  private let handler: (HTTPExchange) -> Void
  private var parser: HTTPRequestParser
  private var state = State.reading
  private var isParsing = false
  private var waitsForRoom = false
  private var endsAfterAnswer: Bool
  /// Without any progress while an answer is being written, in nanoseconds.
  private var stallTime: Int64
  /// It carries an answer without end, and has left the number of those that may ask for anything.
  package private(set) var isStanding = false
  /// Told once, as it begins to stand.
  private let onStanding: (HTTPConnection) -> Void
  /// What is held for the answer by whoever writes it, in bytes.
  private var standingBytes = 0
  /// The client has taken nothing for as long as it may, so that the connection ends.
  public private(set) var isOverdue = false

  /// The client.
  public let remoteAddress: SocketAddress
  /// Bytes read and written.
  public var bytesRead: Int { connection.bytesRead }
  public var bytesWritten: Int { connection.bytesWritten }
  /// Requests taken so far.
  public private(set) var requestCount = 0

  init(
    loop: EventLoop, _ connection: SocketConnection, limits: HTTPLimits, isReserve: Bool,
    isOfProxy: Bool = false, isNode: Bool = false, bodyLimit: ((HTTPRequest) -> Int)? = nil,
    onStanding: @escaping (HTTPConnection) -> Void = { _ in }, handler: @escaping (HTTPExchange) -> Void
  ) {
    self.onStanding = onStanding
    (self.loop, self.connection, self.limits, self.handler) = (loop, connection, limits, handler)
    (self.isReserve, endsAfterAnswer, turn) = (isReserve, isReserve, loop.turns)
    self.isNode = isNode
    stallTime = limits.stallTime
    remoteAddress = connection.remoteAddress
    parser = HTTPRequestParser(
      limits: limits, remoteAddress: remoteAddress,
      localPort: SocketAddress.of(connection.descriptor, peer: false).port, isOfProxy: isOfProxy,
      bodyLimit: bodyLimit)
    connection.stallLimit = limits.stallTime
    setDeadline(isReserve ? limits.reserveTime : limits.idleTime)
  }

  // MARK: Reading

  private var isReading: Bool { if case .reading = state { true } else { false } }
  private var exchange: HTTPExchange? {
    if case .answering(let exchange, _) = state { exchange } else { nil }
  }

  /// While no request can be taken up, input is read on only to notice that the client goes.
  private var wantsInput: Bool {
    switch state {
    case .reading, .answering: takesRequests || parser.waiting < limits.pipelined
    case .leaving: false
    case .draining, .ended: true
    }
  }

  /// Whether the next request is taken up as soon as it is whole.
  private var takesRequests: Bool { isReading && queuedBytes < Self.answerBacklog }

  /// Whether nothing is lost when this connection makes room for another: it has not asked for anything, or its answer has
  /// left. Looks for what has just come.
  func isReplaceable() -> Bool {
    if isReading { connection.readNow() }
    switch state {
    case .reading: return requestCount == 0
    case .answering, .leaving, .draining: return false
    case .ended: return true
    }
  }

  /// After every change: what is held is counted, and input is read while it is wanted.
  private func settle() {
    connection.hold(parser.heldBytes + (exchange?.request.body.count ?? 0) + standingBytes)
    connection.setPaused(!wantsInput)
  }

  /// Takes up requests until one is not answered at once.
  private func parse() {
    guard !isParsing else { return }
    isParsing = true
    defer { isParsing = false }
    while takesRequests {
      guard isReserve || !loop.memory.isExceeded else { return waitForRoom() }
      do {
        guard let event = try parser.next() else { return }
        switch event {
        case .wantsContinue: queue(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        case .request(var request):
          request.isOfNode = isNode
          begin(request)
        }
      } catch { return refuse(error) }
    }
  }

  /// Memory is short: what a request would be answered comes when others have given way.
  private func waitForRoom() {
    guard !waitsForRoom else { return }
    waitsForRoom = true
    loop.relief.wait { [self] in
      waitsForRoom = false
      parse()
      settle()
    }
  }

  private func begin(_ request: HTTPRequest) {
    // While an earlier answer waits to be read, its deadline stays.
    if queuedBytes == 0 { connection.deadline = .distantFuture }
    requestCount += 1
    connection.waitsForCommits = true
    let exchange = HTTPExchange(request, outlet: self, isOnReserve: isReserve)
    state = .answering(exchange, .whole)
    handler(exchange)
  }

  private func refuse(_ failure: HTTPParseFailure) {
    queue(
      HTTPFraming.head(
        HTTPResponse(status: failure.status, error: HTTPStatus.errorCode(failure.status), failure.sentence),
        .whole(keepsConnection: false)))
    drain()
  }

  // MARK: Ending

  /// Writes what is queued, then ends in order.
  private func drain(waitsForPeer: Bool = false) {
    switch state {
    case .reading, .answering, .leaving: break
    case .draining, .ended: return
    }
    state = .draining(waitsForPeer: waitsForPeer)
    settle()
    setDeadline(limits.stallTime)
    connection.notifyWhenDrained()
  }

  /// Ends an idle connection at once, a busy one after its answer. A stream has no end of its own, so it is cut.
  func shutDown() {
    switch state {
    case .answering(_, .chunked), .leaving: abort()
    case .answering: endsAfterAnswer = true
    case .reading, .draining, .ended: drain()
    }
  }

  /// Drops the connection.
  package func abort(reset: Bool = false) { connection.abort("dropped", reset: reset) }

  private func setDeadline(_ time: Int64) {
    connection.deadline = SystemClock.now().adding(nanoseconds: time)
  }

  // MARK: Writing

  private func queue(_ bytes: [UInt8]) {
    if queuedBytes == 0 { setDeadline(stallTime) }
    connection.send(bytes)
    connection.notifyWhenDrained()
  }

  /// The answer is whole: takes up the next request, or ends.
  private func answered(keepsConnection: Bool) {
    guard keepsConnection else { return drain() }
    state = .reading
    parse()
    settle()
  }
}

extension HTTPConnection: ConnectionHandler {
  public func connection(_ connection: SocketConnection, received bytes: Span<UInt8>) {
    switch state {
    case .reading, .answering: break
    case .leaving, .draining, .ended: return
    }
    let (wasInside, taken) = (parser.isInside, requestCount)
    parser.receive(bytes)
    parse()
    // Empty lines between requests (RFC 9112 2.2) begin none, and put nothing off.
    if isReading, !wasInside, parser.isInside, taken == requestCount, !isReserve {
      setDeadline(limits.requestTime)
    }
    settle()
  }

  public func connectionDrained(_ connection: SocketConnection) {
    switch state {
    case .reading:
      setDeadline(parser.isInside ? limits.requestTime : limits.idleTime)
      parse()
      settle()
    case .answering(let exchange, _):
      connection.deadline = .distantFuture
      exchange.roomMade()
    case .leaving(let exchange, let take):
      state = .ended
      exchange.connectionLeft()
      take(connection)
    case .draining(let waitsForPeer):
      state = .ended
      if waitsForPeer { connection.halfClose() } else { connection.close() }
      connection.flushNow()
    case .ended: break
    }
  }

  public func connectionPeerEnded(_ connection: SocketConnection) {
    switch state {
    case .reading where queuedBytes > 0: drain()
    case .draining where queuedBytes > 0: break
    default: abort()
    }
  }

  public func connectionIsOverdue(_ connection: SocketConnection) {
    guard isReading, queuedBytes == 0 else {
      isOverdue = true
      return abort()
    }
    guard parser.isInside else { return drain() }
    let seconds = (isReserve ? limits.reserveTime : limits.requestTime) / 1_000_000_000
    refuse(HTTPParseFailure(408, "the request was not complete after \(seconds) s"))
  }

  public func connectionClosed(_ connection: SocketConnection, reason: String) {
    let pending: HTTPExchange? = if case .leaving(let leaving, _) = state { leaving } else { exchange }
    state = .ended
    pending?.clientGone()
  }

  /// Whoever holds most is in the middle of a request or an answer, where no other answer has a place.
  public func evict(_ connection: SocketConnection) { connection.abort(SocketConnection.evictedReason) }
}

/// A connection whose answer has no end, and whose writer looks after it.
extension HTTPConnection {
  /// The answer that is being written has no end: the connection no longer takes the place of one that may ask for anything,
  /// ends with the answer, and is cut off when the client takes nothing for `stallTime` nanoseconds.
  public func stand(stallTime: Int64) {
    guard !isStanding else { return }
    (isStanding, endsAfterAnswer) = (true, true)
    self.stallTime = stallTime
    connection.stallLimit = stallTime
    SocketCalls.setUnsentLimit(connection.descriptor, bytes: Self.standingUnsent)
    if queuedBytes > 0 { setDeadline(stallTime) }
    onStanding(self)
  }

  /// Says how much the writer of the answer holds for it, in bytes, besides what is queued.
  public func hold(_ bytes: Int) {
    standingBytes = bytes
    settle()
  }

  /// Hands what is queued to the system now, not at the end of the turn.
  public func flush() { connection.flushNow() }

  /// Bytes that the system has taken and not sent, because the client's is full.
  public var systemQueuedBytes: Int { connection.systemQueuedBytes() }

  /// Whether nothing is read or written, as a fault wants it.
  public var isStalled: Bool { connection.isStalled }
  public func setStalled(_ stalled: Bool) { connection.setStalled(stalled) }

  /// The answer that is being written; nil between answers.
  public var openExchange: HTTPExchange? { exchange }
}

/// How an exchange is answered on the connection.
extension HTTPConnection: HTTPExchangeOutlet {
  public var queuedBytes: Int { connection.queuedBytes }

  public func exchange(_ exchange: HTTPExchange, responds response: HTTPResponse) {
    guard exchange === self.exchange else { return }
    let keeps = keepsConnection(exchange) && !response.endsConnection
    let isHead = exchange.request.method == "HEAD"
    if response.claimsNothing, connection.queuedBytes == 0 { connection.waitsForCommits = false }
    queue(
      HTTPFraming.head(
        response, isHead ? .headOnly(keepsConnection: keeps) : .whole(keepsConnection: keeps)))
    answered(keepsConnection: keeps)
  }

  public func exchange(_ exchange: HTTPExchange, dribbles bytes: Int, everyNanoseconds interval: Int64) {
    if exchange === self.exchange { connection.dribble(bytes: bytes, everyNanoseconds: interval) }
  }

  public func exchange(_ exchange: HTTPExchange, breaks breakage: HTTPBreakage) {
    guard exchange === self.exchange else { return }
    switch breakage {
    case .reset: abort(reset: true)
    case .end: drain(waitsForPeer: true)
    case .garbage(let bytes):
      queue(bytes)
      drain()
    }
  }

  public func exchange(_ exchange: HTTPExchange, becomesTunnel take: @escaping (SocketConnection) -> Void) {
    guard exchange === self.exchange else { return }
    // The next owner could not read it. Clients wait, as a proxy may say no.
    guard parser.waiting == 0 else {
      refuse(HTTPParseFailure(400, "expected nothing after CONNECT until it is answered, got more bytes"))
      return exchange.clientGone()
    }
    state = .leaving(exchange, to: take)
    settle()
    queue(HTTPFraming.tunnelHead)
  }

  public func exchange(_ exchange: HTTPExchange, startsStream head: HTTPResponse) {
    guard exchange === self.exchange else { return }
    let form = exchange.request.isVersion10 ? Form.untilEnd : .chunked
    state = .answering(exchange, form)
    var bare = head
    bare.body = []
    queue(HTTPFraming.head(bare, form == .chunked ? .chunked : .untilEnd))
    guard exchange.request.method != "HEAD" else {
      return answered(keepsConnection: form == .chunked && keepsConnection(exchange))
    }
    self.exchange(exchange, sends: head.body)
  }

  public func exchange(_ exchange: HTTPExchange, sends bytes: [UInt8]) {
    guard case .answering(let current, let form) = state, exchange === current, !bytes.isEmpty else { return }
    queue(form == .chunked ? HTTPFraming.chunk(bytes) : bytes)
    if queuedBytes > limits.unread { abort() }
  }

  public func exchangeEndsStream(_ exchange: HTTPExchange) {
    guard case .answering(let current, let form) = state, exchange === current else { return }
    if form == .chunked { queue(HTTPFraming.lastChunk) }
    answered(keepsConnection: form == .chunked && keepsConnection(exchange))
  }

  private func keepsConnection(_ exchange: HTTPExchange) -> Bool {
    exchange.request.keepsConnection && !endsAfterAnswer
  }
}
