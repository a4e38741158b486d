import Platform
import PushModel

/// One client of an `HTTPServer`. Requests are answered one after the other; what a client sends ahead waits.
///
///     reading ─ request whole → answering ─ answer whole → reading … ─→ draining ─→ lingering ─→ closed
///        └─ bad request, too slow ─────────────────────────────────────────┘
///
/// Answers leave at the end of the loop's turn, so a client hears of nothing that the store has not committed
/// (`Sources/ARCHITECTURE.md#promises` 1). *Lingering* throws input away after our side has ended: closing a socket
/// with unread input would reset it and could destroy the answer (RFC 9112 9.6).
public final class HTTPConnection {
  enum Phase { case reading, answering, draining, lingering, closed }

  /// Answers that may wait to be written before the next pipelined request is taken up, in bytes.
  private static let answerBacklog = 1 << 20

  /// What a connection costs besides its buffers, in bytes: this object and its registrations. Measured with 400 idle ones:
  /// 0.8 KiB each.
  private static let baseBytes = 1 << 10

  let loop: EventLoop
  let descriptor: Int32
  let limits: HTTPLimits
  /// Takes one request that must be answered however full the server is.
  let isReserve: Bool
  private let handler: (HTTPExchange) -> Void
  private var parser: HTTPRequestParser
  private var readEvent: LoopEvent?
  private(set) lazy var writer = HTTPWriter(loop, descriptor) { [unowned self] in queueFlush() }
  private var isQueuedForFlush = false
  private var isParsing = false
  private var peerHasEnded = false
  /// The request being answered. The connection owns it until the answer is whole.
  var exchange: HTTPExchange?
  var streamIsChunked = false
  private(set) var endsAfterAnswer = false
  /// Lingering lasts for as long as the client likes.
  var waitsForPeer = false
  private(set) var phase = Phase.reading
  /// When the present wait ends by force; monotonic nanoseconds, `.max` for never.
  private(set) var deadline = Int64.max
  var onClosed: ((HTTPConnection) -> Void)?
  private var share = MemoryShare()
  private var waitsForRoom = false
  var idleMark = IdleMark(now: SystemClock.monotonicNanoseconds())

  /// The client.
  public let remoteAddress: SocketAddress
  /// Bytes read and written.
  public private(set) var bytesRead = 0
  public var bytesWritten: Int { writer.bytesWritten }
  /// Requests taken so far.
  public private(set) var requestCount = 0

  init(
    loop: EventLoop, descriptor: Int32, localPort: UInt16, limits: HTTPLimits, isReserve: Bool,
    handler: @escaping (HTTPExchange) -> Void
  ) {
    (self.loop, self.descriptor, self.limits, self.handler) = (loop, descriptor, limits, handler)
    (self.isReserve, endsAfterAnswer) = (isReserve, isReserve)
    remoteAddress = SocketAddress.of(descriptor, peer: true)
    parser = HTTPRequestParser(limits: limits, remoteAddress: remoteAddress, localPort: localPort)
    readEvent = LoopEvent(loop, descriptor: descriptor, .read) { [unowned self] in readReady() }
    readEvent?.onFailure = { [unowned self] in abort() }
    readEvent?.start()
    setDeadline(isReserve ? limits.reserveTime : limits.idleTime)
    share.set(Self.baseBytes, in: loop.memory)
  }

  deinit { share.set(0, in: loop.memory) }

  // MARK: Reading

  private func readReady() {
    guard let base = loop.scratch.baseAddress else { return }
    var budget = ReadBudget()
    while wantsInput {
      let count = recv(descriptor, base, loop.scratch.count, 0)
      if count > 0 {
        bytesRead += count
        received(UnsafeRawBufferPointer(start: base, count: count))
        if budget.isSpent(count, on: loop) { break }
      } else if count == 0 {
        return peerEnded()
      } else {
        return errno == EAGAIN || errno == EINTR ? () : abort()
      }
    }
    if !wantsInput { readEvent?.cancel() }
  }

  /// While no request can be taken up, input is read on only to notice that the client goes.
  private var wantsInput: Bool {
    switch phase {
    case .reading, .answering: takesRequests || parser.waiting < limits.pipelined
    case .draining, .lingering: true
    case .closed: false
    }
  }

  /// Whether the next request is taken up as soon as it is whole.
  private var takesRequests: Bool { phase == .reading && writer.count < Self.answerBacklog }

  /// Whether nothing is lost when this connection makes room for another: it has not asked for anything, or its answer has
  /// left. Looks for what has just come.
  func isReplaceable() -> Bool {
    if phase == .reading { readReady() }
    return phase == .lingering || phase == .reading && requestCount == 0
  }

  private func received(_ bytes: UnsafeRawBufferPointer) {
    guard phase == .reading || phase == .answering else { return }
    let wasInside = parser.isInside
    parser.receive(bytes)
    if phase == .reading, !wasInside, !isReserve { setDeadline(limits.requestTime) }
    parse()
    countMemory()
  }

  private func countMemory() {
    guard phase != .closed else { return }
    let body = exchange?.request.body.count ?? 0
    share.set(Self.baseBytes + parser.heldBytes + body, in: loop.memory)
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
        case .request(let request): begin(request)
        }
      } catch { return refuse(error) }
    }
  }

  /// Memory is short: what a request would be answered comes when others have given way.
  private func waitForRoom() {
    guard !waitsForRoom else { return }
    waitsForRoom = true
    loop.relief.wait(self)
  }

  func roomIsBack() {
    waitsForRoom = false
    if phase == .reading { readEvent?.start() }
    parse()
    countMemory()
  }

  private func begin(_ request: HTTPRequest) {
    phase = .answering
    deadline = .max
    requestCount += 1
    let exchange = HTTPExchange(request, outlet: self, isOnReserve: isReserve)
    self.exchange = exchange
    handler(exchange)
  }

  private func refuse(_ failure: HTTPParseFailure) {
    queue(
      HTTPFraming.head(
        HTTPResponse(status: failure.status, error: HTTPStatus.errorCode(failure.status), failure.sentence),
        .whole(keepsConnection: false)))
    drain()
  }

  private func peerEnded() {
    peerHasEnded = true
    switch phase {
    case .reading where !writer.isEmpty: drain()
    case .draining where !writer.isEmpty: readEvent?.cancel()
    default: abort()
    }
  }

  // MARK: Ending

  /// Writes what is queued, then ends in order.
  func drain() {
    guard phase == .reading || phase == .answering else { return }
    phase = .draining
    if !peerHasEnded { readEvent?.start() }
    setDeadline(limits.stallTime)
    queueFlush()
  }

  private func linger() {
    phase = .lingering
    _ = shutdown(descriptor, Int32(SHUT_WR))
    if peerHasEnded { return abort() }
    if waitsForPeer { deadline = .max } else { setDeadline(limits.lingerTime) }
  }

  /// Ends an idle connection at once, a busy one after its answer. A stream has no end of its own, so it is cut.
  func shutDown() {
    guard phase == .answering else { return drain() }
    if streamIsChunked { abort() } else { endsAfterAnswer = true }
  }

  /// Drops the connection.
  func abort() {
    guard phase != .closed else { return }
    phase = .closed
    readEvent?.cancel()
    readEvent = nil
    writer.close()
    share.set(0, in: loop.memory)
    _ = Platform.close(descriptor)
    let pending = exchange
    exchange = nil
    onClosed?(self)
    pending?.clientGone()
  }

  /// Called about once a second with the monotonic time.
  func checkDeadline(_ now: Int64) {
    guard deadline < now else { return }
    if phase == .reading, parser.isInside, writer.isEmpty {
      let seconds = (isReserve ? limits.reserveTime : limits.requestTime) / 1_000_000_000
      refuse(HTTPParseFailure(408, "the request was not complete after \(seconds) s"))
    } else if phase == .reading, writer.isEmpty {
      drain()
    } else {
      abort()
    }
  }

  private func setDeadline(_ time: Int64) { deadline = SystemClock.monotonicNanoseconds() + time }

  // MARK: Writing

  func queue(_ bytes: [UInt8]) {
    guard phase != .closed, !bytes.isEmpty else { return }
    if writer.isEmpty { setDeadline(limits.stallTime) }
    writer.append(bytes)
    queueFlush()
  }

  /// Writing waits for the end of the turn also when the socket has room again: what was queued in the turn may depend
  /// on the commit.
  private func queueFlush() {
    guard !isQueuedForFlush else { return }
    isQueuedForFlush = true
    loop.unflushedHTTP.append(self)
  }

  /// Writes what may leave. Runs at the end of the turn.
  func flush() {
    isQueuedForFlush = false
    guard phase != .closed else { return }
    let before = bytesWritten
    let outcome = writer.write()
    if bytesWritten != before { setDeadline(limits.stallTime) }
    switch outcome {
    case .done: drained()
    case .waits: break
    case .pauses(let time): setDeadline(time + limits.stallTime)
    case .failed: abort()
    }
  }

  private func drained() {
    switch phase {
    case .reading:
      setDeadline(parser.isInside ? limits.requestTime : limits.idleTime)
      readEvent?.start()
      parse()
    case .answering:
      deadline = .max
      exchange?.roomMade()
    case .draining: linger()
    case .lingering, .closed: break
    }
  }

  /// The answer is whole: takes up the next request, or ends.
  func answered(keepsConnection: Bool) {
    exchange = nil
    countMemory()
    streamIsChunked = false
    guard keepsConnection else { return drain() }
    phase = .reading
    readEvent?.start()
    parse()
  }
}

extension HTTPConnection: MemoryHolder {
  var heldBytes: Int { share.bytes + writer.capacity }
  var movedBytes: Int { writer.isEmpty ? bytesRead &+ bytesWritten : bytesWritten }
  /// Whoever holds most is in the middle of a request or an answer, where no other answer has a place.
  func giveWay() { abort() }
}
