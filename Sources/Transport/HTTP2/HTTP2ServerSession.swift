import CNghttp2
import Platform
import PushModel

/// The server's side of one HTTP/2 connection, without the connection: bytes in → requests, answers → bytes.
///
///     receive(bytes) ─→ nextRequest() … respond(to:with:) ─→ nextFrame() … until nil
///
/// HPACK, flow control, CONTINUATION, padding, trailers, PING and SETTINGS acknowledgement are nghttp2's work. This class
/// adds Apple's stream limit (`HTTP2StreamLimit`), errors for frames on streams that are over (`HTTP2FrameWatch`), bounded
/// requests, and answers in their cheapest form.
///
/// nghttp2 holds unretained pointers to this object (its user data) and to live requests (stream user data); this object
/// frees the nghttp2 session when it goes and keeps the requests in its pool, so neither pointer outlives its object.
public final class HTTP2ServerSession {
  /// What Apple's Netty says to a client that opens more streams than allowed
  /// (`Documentation/provider-api.md#settings`).
  public static let streamsViolatedText = "Maximum active streams violated for this endpoint."

  public let options: HTTP2Options
  let handle: OpaquePointer
  var requests = HTTP2StreamPool<HTTP2Request>()
  var streamLimit: HTTP2StreamLimit
  /// Limits to be written into SETTINGS frames that nghttp2 has yet to produce, oldest first.
  var unsentLimits: [Int] = []
  /// The request whose frames are arriving.
  var current: HTTP2Request?
  /// Whole requests that were not yet taken, from `nextArrival` on.
  var arrivals: ContiguousArray<HTTP2Request> = []
  private var nextArrival = 0
  var fieldList = HTTP2FieldList()
  private let libraryMemory: HTTP2Memory
  /// Bytes held by messages and answers.
  var bufferBytes = 0
  /// When the header block that is coming was first seen not to be whole; monotonic nanoseconds, 0 for not yet.
  var headersSeenAt: Int64 = 0
  /// The highest stream taken for processing; what a GOAWAY promises.
  var lastTakenStreamID: Int32 = 0
  /// No stream above this one is served: what a GOAWAY said, or will say when the client reads again.
  var lastPromisedStreamID = Int32.max
  /// Streams to be reset when their early answer has left: nghttp2 drops an answer once a reset is queued behind it.
  var streamsToReset: [Int32] = []
  /// Holds a SETTINGS frame while it is changed.
  let settingsFrame = UnsafeMutableRawBufferPointer.allocate(byteCount: maximumSettingsFrame, alignment: 8)
  private var preface = HTTP2Preface()
  var watch: HTTP2FrameWatch
  /// The client broke a rule and hears so in a GOAWAY; nothing that it sends is looked at any more.
  public private(set) var isTerminated = false
  private var failure: String?

  /// The client's GOAWAY, if it sent one.
  public internal(set) var peerGoAway: HTTP2GoAway?
  /// The last GOAWAY that was sent, ours or nghttp2's own with its reason.
  public internal(set) var sentGoAway: HTTP2GoAway?
  /// The last frame that the client should not have sent.
  public internal(set) var lastViolation: HTTP2Violation?
  /// Whether the rest of a request has to come before anything can be answered.
  public var isAmidRequest: Bool { current?.phase == .receiving }
  /// A header block has begun and is not whole: nothing else can come before.
  var isAmidHeaders: Bool { watch.isAmidHeaders }
  /// What this session holds, in bytes.
  public var heldBytes: Int {
    libraryMemory.bytes + bufferBytes + requests.count * HTTP2Request.baseBytes
  }
  /// Streams open now: being received, judged or answered.
  public var openStreams: Int { requests.live.count }

  /// A new session with its SETTINGS queued; nil only when memory is exhausted.
  public init?(options: HTTP2Options = HTTP2Options()) {
    var session: OpaquePointer?
    let counted = HTTP2Memory()
    HTTP2Library.withOptions(options) { library in
      HTTP2Library.withCallbacks(HTTP2ServerCallbacks.install) { callbacks in
        counted.withFunctions { memory in
          _ = nghttp2_session_server_new3(&session, callbacks, nil, library, memory)
        }
      }
    }
    guard let session else { return nil }
    (self.options, libraryMemory) = (options, counted)
    handle = session
    watch = HTTP2FrameWatch(HTTP2FrameAllowance(options, now: SystemClock.monotonicNanoseconds()))
    let initial = min(options.settings.maximumConcurrentStreams, options.streamCeiling)
    streamLimit = HTTP2StreamLimit(initial: initial, ceiling: options.streamCeiling)
    nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
    submitSettings(limit: initial)
  }

  deinit {
    nghttp2_session_del(handle)
    settingsFrame.deallocate()
  }

  // MARK: Bytes in

  /// Takes bytes of the connection, cut anywhere. Events wait in `nextEvent` afterwards.
  public func receive(_ bytes: UnsafeRawBufferPointer) -> HTTP2ReceiveStatus {
    if let failure { return .failed(reason: failure) }
    guard !preface.isComplete else { return feed(bytes) }
    switch preface.receive(bytes) {
    case .incomplete: return .taken
    case .mismatch(let first): return .notHTTP2(firstBytes: first)
    case .complete(let consumed):
      let status = HTTP2Preface.bytes.withUnsafeBytes { feedLibrary($0) }
      guard status == .taken, consumed < bytes.count else { return status }
      return feed(UnsafeRawBufferPointer(rebasing: bytes[consumed...]))
    }
  }

  /// The next whole request, oldest first; nil when there is none. It must be answered once with `respond` or `reset`.
  public func nextRequest() -> HTTP2Request? {
    guard nextArrival < arrivals.count else {
      if nextArrival > 0 {
        arrivals.removeAll(keepingCapacity: true)
        nextArrival = 0
      }
      return nil
    }
    defer { nextArrival += 1 }
    return arrivals[nextArrival]
  }

  /// nghttp2 has seen everything before a frame that is found fault with.
  private func feed(_ bytes: UnsafeRawBufferPointer) -> HTTP2ReceiveStatus {
    var (fed, position) = (0, 0)
    while !isTerminated, let finding = watch.next(in: bytes, from: &position) {
      let status = feedLibrary(UnsafeRawBufferPointer(rebasing: bytes[fed..<max(fed, finding.headOffset)]))
      guard status == .taken, !isTerminated else { return status }
      fed = max(fed, finding.headOffset)
      object(to: finding)
    }
    guard !isTerminated else { return .taken }
    return feedLibrary(UnsafeRawBufferPointer(rebasing: bytes[fed...]))
  }

  /// Whether the allowance is used up, with what time has given back.
  private func isOverdrawn() -> Bool {
    guard watch.allowance.isOverdrawn else { return false }
    watch.allowance.timePassed(SystemClock.monotonicNanoseconds())
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
    isTerminated = true
  }

  private func remember(_ finding: HTTP2FrameWatch.Finding) {
    lastViolation = HTTP2Violation(
      streamID: finding.streamID, frameType: finding.frameType, sentence: "\(finding.sentence)")
  }

  /// Ends the session when the allowance is used up, also amid a long header block: few bytes of it can mean much work.
  private func feedLibrary(_ bytes: UnsafeRawBufferPointer) -> HTTP2ReceiveStatus {
    let size = watch.hasSeenLongBlock ? HTTP2FrameWatch.usualBlock : bytes.count
    var rest = bytes
    repeat {
      let status = feedPiece(UnsafeRawBufferPointer(rebasing: rest.prefix(size)))
      guard status == .taken else { return status }
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(size))
    } while !rest.isEmpty && !isOverdrawn()
    if isOverdrawn() { terminate(.enhanceYourCalm, watch.overdrawn) }
    return .taken
  }

  private func feedPiece(_ bytes: UnsafeRawBufferPointer) -> HTTP2ReceiveStatus {
    let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let result = nghttp2_session_mem_recv(handle, base, bytes.count)
    guard result < 0 else { return .taken }
    let reason = HTTP2Library.sentence(Int32(truncatingIfNeeded: result))
    failure = reason
    return .failed(reason: reason)
  }

  // MARK: Bytes out

  /// The next frame to be sent, lent until the next call; nil when there is nothing (yet) to send.
  public func nextFrame() -> UnsafeRawBufferPointer? {
    if options.waitsForPreface, !preface.isComplete { return nil }
    if let frame = HTTP2Library.nextFrame(handle) { return inspected(frame) }
    guard !streamsToReset.isEmpty else { return nil }
    for streamID in streamsToReset { submitReset(streamID, .noError) }
    streamsToReset.removeAll()
    return HTTP2Library.nextFrame(handle)
  }

  /// Lends frames one after another until there are none or at least `budget` bytes went out; answers how many did.
  @discardableResult
  public func drainOutput(budget: Int = .max, _ send: (UnsafeRawBufferPointer) -> Void) -> Int {
    var sent = 0
    while sent < budget, let frame = nextFrame() {
      send(frame)
      sent += frame.count
    }
    return sent
  }

  /// Whether the conversation is over: after the output is sent the connection is to be closed.
  public var isFinished: Bool {
    if failure != nil { return true }
    return !hasOutput && (isTerminated || nghttp2_session_want_read(handle) == 0)
  }

  /// Whether frames wait to be sent that flow control lets go.
  public var hasOutput: Bool { nghttp2_session_want_write(handle) != 0 }
}
