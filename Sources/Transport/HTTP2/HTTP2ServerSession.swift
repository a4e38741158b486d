import Basics
import CNghttp2
import Platform

/// The server's side of one HTTP/2 connection, without the connection: bytes in → requests, answers → bytes.
///
///     receive(bytes) ─→ nextRequest() … respond(to:with:) ─→ nextFrame() … until nil
///
/// HPACK, flow control, CONTINUATION, padding, trailers, PING and SETTINGS acknowledgement are nghttp2's work. This class
/// adds Apple's stream limit (`HTTP2StreamLimit`), errors for frames on streams that are over (`HTTP2FrameWatch`), bounded
/// requests, and answers in their cheapest form.
///
/// It keeps the requests in slots (`HTTP2RequestQueue`), by whose numbers nghttp2 knows them.
public final class HTTP2ServerSession: HTTP2Session {
  /// What Apple's Netty says to a client that opens more streams than allowed
  /// (`Documentation/provider-api.md#settings`).
  public static let streamsViolatedText = "Maximum active streams violated for this endpoint."

  public let options: HTTP2Options
  private let requests = HTTP2RequestQueue()
  private var streamLimit: HTTP2StreamLimit
  private var answerFields = HTTP2AnswerFields()
  /// The highest stream taken for processing; what a GOAWAY promises.
  public var lastTakenStreamID: Int32 { tally.last }
  /// No stream above this one is served: what a GOAWAY said, or will say when the client reads again.
  private var lastPromisedStreamID = Int32.max
  /// The GOAWAY left the session open: streams above are refused one by one.
  private var refusesAbove = false
  /// Streams to be reset when their early answer has left: nghttp2 drops an answer once a reset is queued behind it.
  private var streamsToReset: [Int32] = []
  private var preface = HTTP2Preface()
  private(set) var watch: HTTP2FrameWatch
  private var outputWatch = HTTP2OutputWatch()
  private var overdueWatch = HTTP2OverdueWatch()
  /// The client broke a rule and hears so in a GOAWAY; nothing that it sends is looked at any more.
  public var isTerminated: Bool { hasTerminated }
  private var hasTerminated = false
  private var failure: String?

  /// The client's GOAWAY, if it sent one.
  public private(set) var peerGoAway: HTTP2GoAway?
  /// The last GOAWAY that was sent, ours or nghttp2's own with its reason.
  public var sentGoAway: HTTP2GoAway? { outputWatch.goAway }
  /// The last frame that the client should not have sent.
  public private(set) var lastViolation: HTTP2Violation?
  /// Whether the rest of a request has to come before anything can be answered.
  public var isAmidRequest: Bool { requests.isReceiving }
  /// What this session holds, in bytes.
  public var heldBytes: Int { libraryBytes + requests.heldBytes }
  /// Streams open now: being received, judged or answered.
  public var openStreams: Int { requests.liveCount }
  /// Most that were open at a time, and those that were opened beyond a limit that the client had acknowledged.
  public var mostStreams: Int { tally.most }
  public var limitViolations: Int { tally.violations }
  private var tally = (last: Int32(0), most: 0, violations: 0)
  /// Streams that were opened after GOAWAY was said, as a count. nghttp2 tells of none of them.
  public var streamsAfterGoAway: Int { watch.streamsAfterGoAway }

  /// A new session with its SETTINGS queued; nil only when memory is exhausted.
  public init?(options: HTTP2Options = HTTP2Options()) {
    self.options = options
    watch = HTTP2FrameWatch(HTTP2FrameAllowance(options, now: SystemClock.now()))
    let initial = min(options.streams, options.streamCeiling)
    streamLimit = HTTP2StreamLimit(initial: initial, ceiling: options.streamCeiling)
    super.init(options)
    submitSettings(limit: initial)
  }

  // MARK: Bytes in

  /// Takes bytes of the connection, cut anywhere. Events wait in `nextRequest` afterwards.
  public func receive(_ bytes: Span<UInt8>) -> HTTP2ReceiveStatus {
    if let failure { return .failed(reason: failure) }
    guard !preface.isComplete else { return feedWatched(bytes) }
    switch preface.receive(bytes) {
    case .incomplete: return .taken
    case .mismatch(let first): return .notHTTP2(firstBytes: first)
    case .complete(let consumed):
      let preface = HTTP2Preface.bytes
      let status = feedLibrary(preface.span)
      guard status == .taken else { return status }
      return feedWatched(bytes.dropping(consumed))
    }
  }

  /// The next whole request, oldest first; nil when there is none. It must be answered once with `respond` or `reset`.
  public func nextRequest() -> HTTP2Request? { requests.next() }

  /// nghttp2 has seen everything before a frame that is found fault with.
  private func feedWatched(_ bytes: Span<UInt8>) -> HTTP2ReceiveStatus {
    var (fed, position) = (0, 0)
    while !isTerminated, let finding = watch.next(in: bytes, from: &position) {
      let status = feedLibrary(bytes.extracting(fed..<max(fed, finding.headOffset)))
      guard status == .taken, !isTerminated else { return status }
      fed = max(fed, finding.headOffset)
      object(to: finding)
    }
    guard !isTerminated else { return .taken }
    return feedLibrary(bytes.dropping(fed))
  }

  /// Whether the allowance is used up, with what time has given back.
  private func isOverdrawn() -> Bool {
    guard watch.allowance.isOverdrawn else { return false }
    watch.allowance.timePassed(SystemClock.now())
    return watch.allowance.isOverdrawn
  }

  private func object(to finding: HTTP2FrameWatch.Finding) {
    switch finding.consequence {
    case .streamError(let code):
      remember(finding)
      submitReset(finding.streamID, code)
    case .connectionError(let code): terminate(code, finding)
    case .overdrawn: break  // Not with what the bytes before it gave back, or the session would be over.
    }
  }

  private func terminate(_ code: HTTP2ErrorCode, _ finding: HTTP2FrameWatch.Finding) {
    remember(finding)
    goAway(code, debugData: Array("\(finding.sentence)".utf8))
    hasTerminated = true
  }

  private func remember(_ finding: HTTP2FrameWatch.Finding) {
    lastViolation = HTTP2Violation(
      streamID: finding.streamID, frameType: finding.frameType, sentence: "\(finding.sentence)")
  }

  /// Ends the session when the allowance is used up, also amid a long header block: few bytes of it can mean much work.
  private func feedLibrary(_ bytes: Span<UInt8>) -> HTTP2ReceiveStatus {
    let size = watch.hasSeenLongBlock ? HTTP2FrameWatch.usualBlock : bytes.count
    var fed = 0
    repeat {
      let piece = bytes.dropping(fed).prefix(size)
      if let reason = feed(piece) {
        failure = reason
        return .failed(reason: reason)
      }
      fed += piece.count
    } while fed < bytes.count && !isOverdrawn()
    if isOverdrawn() { terminate(.enhanceYourCalm, watch.overdrawn) }
    return .taken
  }

  // MARK: Bytes out

  /// Lends the next frame to be sent for the call, which may not ask for another; answers its size, nil when there is nothing (yet) to
  /// send.
  public func sendFrame(_ send: (Span<UInt8>) -> Void) -> Int? {
    if options.waitsForPreface, !preface.isComplete { return nil }
    let size = lendFrame { frame in
      if let other = outputWatch.replacement(of: frame) { send(other.span) } else { send(frame) }
    }
    if let size { return size }
    if let goAway = outputWatch.takeOwnGoAway() {
      send(goAway.span)
      return goAway.count
    }
    guard !streamsToReset.isEmpty else { return nil }
    for streamID in streamsToReset { submitReset(streamID, .noError) }
    streamsToReset.removeAll()
    return sendFrame(send)
  }

  /// Lends frames one after another until there are none or at least `budget` bytes went out; answers how many did.
  @discardableResult
  public func drainOutput(budget: Int = .max, _ send: (Span<UInt8>) -> Void) -> Int {
    var sent = 0
    while sent < budget, let size = sendFrame(send) { sent += size }
    return sent
  }

  /// Whether the conversation is over: after the output is sent the connection is to be closed.
  public var isFinished: Bool {
    if failure != nil { return true }
    return !hasOutput && (isTerminated || !wantsInput)
  }

  /// Whether frames wait to be sent that flow control lets go.
  public var hasOutput: Bool { wantsOutput || outputWatch.hasOwnGoAway }

  // MARK: Answers

  /// Answers a request, once. False when its client has gone, and nothing is sent.
  @discardableResult
  public func respond(to request: HTTP2Request, with response: HTTP2Response) -> Bool {
    guard settle(request) else { return false }
    submit(response, to: request)
    return true
  }

  /// Ends a request without an answer.
  public func reset(_ request: HTTP2Request, _ code: HTTP2ErrorCode) {
    if settle(request) { submitReset(request.streamID, code) }
  }

  /// Lets go of a request for which nothing will be sent, ever.
  public func drop(_ request: HTTP2Request) { _ = settle(request) }

  /// Its owner has done with a request; answers whether the client still waits.
  private func settle(_ request: HTTP2Request) -> Bool {
    guard request.phase == .delivered else { return false }
    request.phase = .answered
    guard request.isCancelled else { return true }
    requests.recycleIfDone(request)
    return false
  }

  /// What Netty says when the header list is longer than announced; the rest of the stream is of no use.
  private func refuseTooLarge(_ request: HTTP2Request) {
    requests.refused(request)
    submit(HTTP2Response(status: 431), to: request)
    streamsToReset.append(request.streamID)
  }

  private func submit(_ response: HTTP2Response, to request: HTTP2Request) {
    answerFields.set(response)
    let hasBody = !response.body.isEmpty && !request.isHead
    if hasBody {
      request.outgoing = response.body
      requests.count(request)
    }
    submitAnswer(request.streamID, answerFields.fields, hasBody: hasBody)
  }

  // MARK: Limits and ends

  /// The stream limit last asked for.
  public var maximumConcurrentStreams: Int { streamLimit.latest }

  /// Announces another stream limit. While the client owes acknowledgements of earlier ones, the newest limit waits.
  public func setMaximumConcurrentStreams(_ limit: Int) {
    let bounded = min(max(0, limit), options.streamCeiling)
    if streamLimit.set(bounded) { submitSettings(limit: bounded) }
  }

  /// Tells the client that no new stream will be served, and why. Streams up to the last one taken are still answered, and
  /// then the session is finished.
  ///
  /// - Parameters:
  ///   - lastStreamID: the highest stream that was or may be processed; nil for the highest taken so far.
  ///   - debugData: a JSON object with `reason`, or plain text.
  ///   - keepsOpen: the session goes on for those streams, and refuses each one above with REFUSED_STREAM.
  public func goAway(
    _ code: HTTP2ErrorCode = .noError, lastStreamID: Int32? = nil, debugData: [UInt8] = [],
    keepsOpen: Bool = false
  ) {
    let last = min(lastStreamID ?? lastTakenStreamID, lastPromisedStreamID)
    (lastPromisedStreamID, refusesAbove, watch.saidGoAway) = (last, keepsOpen, true)
    guard !keepsOpen else {
      return outputWatch.submit(HTTP2GoAway(lastStreamID: last, errorCode: code, debugData: debugData))
    }
    outputWatch.callOffOwnGoAway()
    submitGoAway(lastStreamID: last, code, debugData: debugData)
  }

  /// nghttp2 is told twice the ceiling: it would break the connection over an acknowledged limit with words of its own,
  /// and refuse streams sent before the first acknowledgement. Who goes on opening streams after ours it does end. The
  /// true limit is written in as the frame leaves.
  private func submitSettings(limit: Int) {
    outputWatch.submitted(limit: limit)
    submit(settings: HTTP2Options.settings(streams: 2 * options.streamCeiling))
  }

  /// Resets streams whose request or answer has not become whole in time. To be called about once a second, with monotonic
  /// nanoseconds: a request's time begins when this first sees it, so that streams pay nothing for it.
  public func endOverdue(_ now: Instant) -> Overdue {
    let late = overdueWatch.late(requests.live, options, now)
    for request in late { submitReset(request.streamID, .enhanceYourCalm) }
    let isAmidHeaders = overdueWatch.isLate(isAmidHeaders: watch.isAmidHeaders, options, now)
    return Overdue(isAmidHeaders: isAmidHeaders, streams: late.count)
  }

  // MARK: What nghttp2 tells about arriving frames

  override func headersBegan(streamID: Int32, isRequest: Bool) {
    overdueWatch.headersBegan()
    // Trailers say nothing that APNs reads.
    guard isRequest else { return requests.nothingArrives() }
    let request = requests.began(streamID)
    setSlot(request.slot, of: streamID)
    tally.most = max(tally.most, openStreams)
    guard streamID <= lastPromisedStreamID else { return refuseAbove(request) }
    switch streamLimit.verdict(open: openStreams) {
    case .accepted: tally.last = streamID
    case .refused: refuse(request)
    case .violated:
      tally.violations += 1
      refuse(request)
      goAway(.refusedStream, debugData: Array(Self.streamsViolatedText.utf8))
    }
  }

  override func fieldCame(name: Span<UInt8>, value: Span<UInt8>) {
    guard let request = requests.takingFields else { return charge(name, value) }
    if !request.message.append(name: name, value: value) { fieldWasTooMuch(name, value) }
  }

  /// The first of a request is counted by its being refused.
  @inline(never)
  private func fieldWasTooMuch(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    guard let request = requests.receiving else { return charge(name, value) }
    if request.isTooLarge { charge(name, value) }
    request.isTooLarge = true
  }

  /// One byte can stand for a field of four thousand (RFC 7541 7.3), and nghttp2 looks at each of its bytes all the same.
  private func charge(_ name: Span<UInt8>, _ value: Span<UInt8>) {
    watch.allowance.charge(1 + (name.count + value.count) / HTTP2FrameAllowance.fieldBytes)
  }

  override func dataCame(streamID: Int32, _ bytes: Span<UInt8>) {
    requests.receiving(streamID, in: self)?.message.appendBody(bytes)
  }

  override func frameEnded(_ head: nghttp2_frame_hd) {
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA: messageFrameEnded(head)
    case NGHTTP2_SETTINGS: settingsCame(head)
    default: break
    }
  }

  override func goAwayCame(_ goAway: HTTP2GoAway) { peerGoAway = goAway }

  override func frameWasInvalid(_ head: nghttp2_frame_hd, _ sentence: String) {
    lastViolation = HTTP2Violation(streamID: head.stream_id, frameType: head.type, sentence: sentence)
  }

  override func streamClosed(_ streamID: Int32, _ code: HTTP2ErrorCode) {
    requests.closed(streamID, in: self)
  }

  override func stream(_ slot: Int) -> HTTP2Stream? { requests.request(at: slot) }

  private func messageFrameEnded(_ head: nghttp2_frame_hd) {
    guard let request = requests.receiving(head.stream_id, in: self) else { return }
    requests.count(request)
    if request.isTooLarge { return refuseTooLarge(request) }
    guard Int32(head.flags) & Int32(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
    requests.delivered(request)
    watch.allowance.requestCame()
  }

  private func settingsCame(_ head: nghttp2_frame_hd) {
    guard Int32(head.flags) & Int32(NGHTTP2_FLAG_ACK.rawValue) != 0 else { return }
    if let next = streamLimit.acknowledge() { submitSettings(limit: next) }
  }

  /// A GOAWAY that ends the session tells its client; nghttp2 drops it as that leaves.
  private func refuseAbove(_ request: HTTP2Request) {
    if refusesAbove { refuse(request) } else { requests.refused(request) }
  }

  private func refuse(_ request: HTTP2Request) {
    requests.refused(request)
    submitReset(request.streamID, .refusedStream)
  }
}
