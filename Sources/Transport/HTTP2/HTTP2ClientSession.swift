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
///
/// nghttp2 holds unretained pointers to this object (its user data) and to its live streams (stream user data); this
/// object frees the nghttp2 session when it goes and keeps the streams in its pool, so neither pointer outlives its object.
public final class HTTP2ClientSession {
  private let handle: OpaquePointer
  private var streams = HTTP2StreamPool<HTTP2ClientStream>()
  private var events: ContiguousArray<HTTP2ClientEvent> = []
  private var nextEventIndex = 0
  private var failure: String?
  /// The server's GOAWAY, the last if it sent several.
  public private(set) var peerGoAway: HTTP2GoAway?
  /// SETTINGS frames of the server, not counting acknowledgements.
  public private(set) var peerSettingsFrames = 0
  /// Requests that have not come to an end.
  public var openStreams: Int { streams.liveCount }

  /// A new session with preface and SETTINGS queued; nil only when memory is exhausted.
  public init?() {
    var session: OpaquePointer?
    HTTP2Library.withOptions { options in
      HTTP2Library.withCallbacks(HTTP2ClientCallbacks.install) { callbacks in
        _ = nghttp2_session_client_new2(&session, callbacks, nil, options)
      }
    }
    guard let session else { return nil }
    handle = session
    nghttp2_session_set_user_data(session, Unmanaged.passUnretained(self).toOpaque())
    nghttp2_submit_settings(session, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil, 0)
  }

  deinit { nghttp2_session_del(handle) }

  /// How many streams the server allows, as far as it has said.
  public var peerMaximumConcurrentStreams: Int {
    Int(nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }

  /// Queues a request; it leaves when the server's stream limit allows. False if the session takes no more.
  @discardableResult
  public func submit(_ head: HTTP2RequestHead, path: String, body: [UInt8], context: Int = 0) -> Bool {
    guard peerGoAway == nil, failure == nil else { return false }
    let stream = streams.checkOut(streamID: 0).takeUnretainedValue()
    (stream.head, stream.context) = (head, context)
    stream.outgoing = body
    let owner = Unmanaged.passUnretained(stream).toOpaque()
    var provider = stream.bodyProvider
    head.withFields(path: path) { fields, count in
      stream.streamID = withUnsafePointer(to: &provider) { provider in
        nghttp2_submit_request(handle, nil, fields, count, body.isEmpty ? nil : provider, owner)
      }
    }
    guard stream.streamID > 0 else {
      streams.checkIn(stream)
      return false
    }
    return true
  }

  /// Takes bytes of the connection, cut anywhere. Events wait in `nextEvent` afterwards.
  public func receive(_ bytes: UnsafeRawBufferPointer) -> HTTP2ReceiveStatus {
    if let failure { return .failed(reason: failure) }
    guard let reason = HTTP2Library.feed(bytes, to: handle) else { return .taken }
    failure = reason
    return .failed(reason: reason)
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
  public func drainOutput(_ send: (UnsafeRawBufferPointer) -> Void) {
    var bytes: UnsafePointer<UInt8>?
    while case let count = nghttp2_session_mem_send(handle, &bytes), count > 0 {
      send(UnsafeRawBufferPointer(start: bytes, count: count))
    }
  }

  /// Tells the server that no more requests will come.
  public func goAway(_ code: HTTP2ErrorCode = .noError) {
    HTTP2Library.submitGoAway(handle, lastStreamID: 0, code, debugData: [])
  }

  /// Cancels a request.
  public func reset(_ stream: HTTP2ClientStream, _ code: HTTP2ErrorCode) {
    nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.streamID, code.rawValue)
  }

  /// Requests that have not come to an end, in no order.
  public var liveStreams: [HTTP2ClientStream] { streams.live }

  func streamClosed(_ stream: HTTP2ClientStream, _ code: UInt32) {
    let isAnswered = code == HTTP2ErrorCode.noError.rawValue && stream.status != 0
    events.append(isAnswered ? .answered(stream) : .reset(stream, HTTP2ErrorCode(rawValue: code)))
  }

  func frameEnded(_ frame: UnsafePointer<nghttp2_frame>) {
    let header = frame.pointee.hd
    switch nghttp2_frame_type(UInt32(header.type)) {
    case NGHTTP2_GOAWAY: peerGoAway = HTTP2Library.goAway(frame.pointee.goaway)
    case NGHTTP2_SETTINGS where Int32(header.flags) & Int32(NGHTTP2_FLAG_ACK.rawValue) == 0:
      peerSettingsFrames += 1
    default: break
    }
  }
}

/// One exchange on a client session. The object serves another one after its event was taken.
public final class HTTP2ClientStream: HTTP2Stream {
  /// Most bytes of an answer kept: a list of ten thousand channels
  /// (`Documentation/provider-api.md#channel-management`).
  public static let answerBodyLimit = 1 << 20

  /// What the caller gave to `submit`.
  public internal(set) var context = 0
  var head: HTTP2RequestHead?

  required init() { super.init(HTTPMessage(bodyLimit: Self.answerBodyLimit)) }

  /// The answer's status, or 0 if none came.
  public var status: Int {
    // nghttp2 takes three digits for a status; those below 100 are none (RFC 9110 15).
    let message = message
    guard let digits = message[.status], digits.count == 3, digits[0] != UInt8(ascii: "0") else { return 0 }
    return Int(digits[0]) * 100 + Int(digits[1]) * 10 + Int(digits[2]) - 48 * 111
  }

  /// A header block is whole. An interim answer (1xx) tells nothing of what becomes of the request, and its fields are not
  /// the answer's (RFC 9110 15.2).
  func headersEnded() {
    if status / 100 == 1 { message.reset() }
  }

  override func reset() {
    super.reset()
    (context, head) = (0, nil)
  }
}

extension HTTP2ClientEvent {
  fileprivate var stream: HTTP2ClientStream {
    switch self {
    case .answered(let stream), .reset(let stream, _): stream
    }
  }
}

/// nghttp2's calls, turned into calls of the client session and stream that its pointers name.
enum HTTP2ClientCallbacks {
  static func install(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      handle, frame, name, nameCount, value, count, _, _ in
      guard let frame, let stream = HTTP2ClientStream.of(handle, frame.pointee.hd.stream_id) else { return 0 }
      _ = stream.message.append(
        name: unsafe UnsafeRawBufferPointer(start: name, count: nameCount).span,
        value: unsafe UnsafeRawBufferPointer(start: value, count: count).span)
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
      handle, _, streamID, data, count, _ in
      HTTP2ClientStream.of(handle, streamID)?.message.appendBody(
        unsafe UnsafeRawBufferPointer(start: data, count: count).span)
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { handle, frame, user in
      guard let frame else { return 0 }
      if frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) {
        HTTP2ClientStream.of(handle, frame.pointee.hd.stream_id)?.headersEnded()
      } else {
        HTTP2ClientSession.of(user)?.frameEnded(frame)
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { handle, streamID, code, user in
      guard let stream = HTTP2ClientStream.of(handle, streamID) else { return 0 }
      HTTP2ClientSession.of(user)?.streamClosed(stream, code)
      return 0
    }
  }
}

extension HTTP2ClientSession {
  /// The session behind nghttp2's user data; see the type's note on who owns it.
  fileprivate static func of(_ user: UnsafeMutableRawPointer?) -> HTTP2ClientSession? {
    user.map { Unmanaged<HTTP2ClientSession>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension HTTP2ClientStream {
  /// The stream behind nghttp2's stream user data; its session's pool owns it.
  fileprivate static func of(_ handle: OpaquePointer?, _ streamID: Int32) -> HTTP2ClientStream? {
    nghttp2_session_get_stream_user_data(handle, streamID).map {
      Unmanaged<HTTP2ClientStream>.fromOpaque($0).takeUnretainedValue()
    }
  }
}
