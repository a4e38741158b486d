import Basics
import CNghttp2
import PushModel

/// What happened on a client session. A stream is lent until the next call of `nextEvent`.
public enum HTTP2ClientEvent {
  /// The answer is complete.
  case answered(HTTP2ClientStream)
  /// The stream ended without a complete answer.
  case reset(HTTP2ClientStream, HTTP2ErrorCode)
}

/// The client's side of one HTTP/2 connection, without the connection; for `HTTP2ClientConnection` and for tests.
public final class HTTP2ClientSession: HTTP2Session {
  private var streams = HTTP2StreamPool<HTTP2ClientStream>()
  private var events: ContiguousArray<HTTP2ClientEvent> = []
  private var nextEventIndex = 0
  /// The stream whose header block is arriving.
  private var current: HTTP2ClientStream?
  /// The fields of the request that is submitted.
  private var fields = HTTP2Fields()
  private var failure: String?
  /// The server's GOAWAY, the last if it sent several.
  public private(set) var peerGoAway: HTTP2GoAway?
  /// SETTINGS frames of the server, not counting acknowledgements.
  public private(set) var peerSettingsFrames = 0
  /// Requests that have not come to an end.
  public var openStreams: Int { streams.liveCount }

  /// A new session with preface and SETTINGS queued; nil only when memory is exhausted.
  public init?() {
    super.init(nil)
    submit(settings: [])
  }

  /// Queues a request; it leaves when the server's stream limit allows. False if the session takes no more.
  @discardableResult
  public func submit(_ head: HTTP2RequestHead, path: String, body: [UInt8], context: Int = 0) -> Bool {
    guard peerGoAway == nil, failure == nil else { return false }
    let stream = streams.checkOut(streamID: 0)
    (stream.context, stream.outgoing) = (context, body)
    head.write(to: &fields, path: path)
    guard let streamID = submitRequest(fields, hasBody: !body.isEmpty, slot: stream.slot) else {
      streams.checkIn(stream)
      return false
    }
    stream.number = streamID
    return true
  }

  /// Takes bytes of the connection, cut anywhere. Events wait in `nextEvent` afterwards.
  public func receive(_ bytes: Span<UInt8>) -> HTTP2ReceiveStatus {
    failure = failure ?? feed(bytes)
    return failure.map { .failed(reason: $0) } ?? .taken
  }

  /// The next thing that happened, oldest first; nil when there is nothing. Takes back the stream lent before.
  public func nextEvent() -> HTTP2ClientEvent? {
    if nextEventIndex > 0 { streams.checkIn(events[nextEventIndex - 1].stream) }
    guard nextEventIndex < events.count else {
      events.removeAll(keepingCapacity: true)
      nextEventIndex = 0
      return nil
    }
    nextEventIndex += 1
    return events[nextEventIndex - 1]
  }

  /// Lends the frames to be sent one after another until there are none.
  public func drainOutput(_ send: (Span<UInt8>) -> Void) {
    while lendFrame(send) != nil {}
  }

  /// Tells the server that no more requests will come.
  public func goAway(_ code: HTTP2ErrorCode = .noError) {
    submitGoAway(lastStreamID: 0, code, debugData: [])
  }

  /// Cancels a request.
  public func reset(_ stream: HTTP2ClientStream, _ code: HTTP2ErrorCode) {
    submitReset(stream.streamID, code)
  }

  /// Requests that have not come to an end, in no order.
  public var liveStreams: [HTTP2ClientStream] { streams.live }

  // MARK: What nghttp2 tells about arriving frames

  private func stream(of streamID: Int32) -> HTTP2ClientStream? { slot(of: streamID).flatMap { streams[$0] } }

  override func stream(_ slot: Int) -> HTTP2Stream? { streams[slot] }

  override func headersBegan(streamID: Int32, isRequest: Bool) { current = stream(of: streamID) }

  override func fieldCame(name: Span<UInt8>, value: Span<UInt8>) {
    _ = current?.message.append(name: name, value: value)
  }

  override func dataCame(streamID: Int32, _ bytes: Span<UInt8>) {
    stream(of: streamID)?.message.appendBody(bytes)
  }

  override func streamClosed(_ streamID: Int32, _ code: HTTP2ErrorCode) {
    guard let stream = stream(of: streamID) else { return }
    if current === stream { current = nil }
    let isAnswered = code == .noError && stream.status != 0
    events.append(isAnswered ? .answered(stream) : .reset(stream, code))
  }

  override func frameEnded(_ head: nghttp2_frame_hd) {
    switch nghttp2_frame_type(UInt32(head.type)) {
    case NGHTTP2_HEADERS: stream(of: head.stream_id)?.headersEnded()
    case NGHTTP2_SETTINGS where Int32(head.flags) & Int32(NGHTTP2_FLAG_ACK.rawValue) == 0:
      peerSettingsFrames += 1
    default: break
    }
  }

  override func goAwayCame(_ goAway: HTTP2GoAway) { peerGoAway = goAway }
}

/// One exchange on a client session. The object serves another one after its event was taken.
public final class HTTP2ClientStream: HTTP2Stream {
  /// Most bytes of an answer kept: a list of ten thousand channels
  /// (`Documentation/provider-api.md#channel-management`).
  public static let answerBodyLimit = 1 << 20

  /// What the caller gave to `submit`.
  public internal(set) var context = 0

  required init() { super.init(HTTPMessage(bodyLimit: Self.answerBodyLimit)) }

  /// The answer's status, or 0 if none came.
  public var status: Int {
    let message = message
    // nghttp2 takes three digits for a status; those below 100 are none (RFC 9110 15).
    guard let digits = message[.status], digits.count == 3, digits[0] != UInt8(ascii: "0") else { return 0 }
    return (0..<3).reduce(0) { $0 * 10 + Int(digits[$1]) - 48 }
  }

  /// A header block is whole. An interim answer (1xx) tells nothing of what becomes of the request, and its fields are not
  /// the answer's (RFC 9110 15.2).
  func headersEnded() {
    if status / 100 == 1 { message.reset() }
  }

  override func reset() {
    super.reset()
    context = 0
  }
}

extension HTTP2ClientEvent {
  fileprivate var stream: HTTP2ClientStream {
    switch self {
    case .answered(let stream), .reset(let stream, _): stream
    }
  }
}
