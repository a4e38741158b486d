import CNghttp2

/// The requests of one server session, from the first frame of each until nobody needs it.
///
///     began ─ frames ─→ delivered ─ next() ─→ its owner's ─ answered, stream closed ─→ recycled
///
/// nghttp2 holds unretained pointers to those that are in use, which are retained here until their streams close.
struct HTTP2RequestQueue {
  private var pool = HTTP2StreamPool<HTTP2Request>()
  /// The request whose frames are arriving.
  private var current: HTTP2Request?
  /// Whole requests that were not yet taken, from `nextArrival` on.
  private var arrivals: ContiguousArray<HTTP2Request> = []
  private var nextArrival = 0
  /// Bytes held by messages and answers.
  private var bufferBytes = 0

  /// Those in use.
  var live: ContiguousArray<HTTP2Request> { pool.live }
  /// In bytes.
  var heldBytes: Int { bufferBytes + pool.count * HTTP2Request.baseBytes }

  /// The request whose frames came last, if it still takes bytes.
  var receiving: HTTP2Request? { current?.phase == .receiving ? current : nil }

  /// The request that still takes bytes of this stream. Most often it is the one whose frames came last.
  mutating func receiving(_ streamID: Int32, _ handle: OpaquePointer) -> HTTP2Request? {
    if let current, current.streamID == streamID { return receiving }
    guard let request = Self.request(of: streamID, handle), request.phase == .receiving else { return nil }
    current = request
    return request
  }

  /// The request that nghttp2 knows for a stream.
  private static func request(of streamID: Int32, _ handle: OpaquePointer) -> HTTP2Request? {
    nghttp2_session_get_stream_user_data(handle, streamID)
      .map { Unmanaged<HTTP2Request>.fromOpaque($0).takeUnretainedValue() }
  }

  mutating func began(_ streamID: Int32, _ handle: OpaquePointer) -> HTTP2Request {
    let request = pool.checkOut(streamID: streamID)
    nghttp2_session_set_stream_user_data(handle, streamID, Unmanaged.passUnretained(request).toOpaque())
    current = request
    return request
  }

  /// Trailers say nothing that APNs reads.
  mutating func trailersBegan() { current = nil }

  mutating func delivered(_ request: HTTP2Request) {
    request.phase = .delivered
    current = nil
    arrivals.append(request)
  }

  /// The next whole request, oldest first.
  mutating func next() -> HTTP2Request? {
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

  /// The stream is gone; nghttp2 forgets its pointer to the request.
  mutating func closed(_ streamID: Int32, _ handle: OpaquePointer) {
    guard let request = Self.request(of: streamID, handle) else { return }
    request.isCancelled = request.phase == .delivered
    request.isClosed = true
    if current === request { current = nil }
    recycleIfDone(request)
  }

  mutating func recycleIfDone(_ request: HTTP2Request) {
    guard request.isClosed, request.phase != .delivered else { return }
    setCount(pool.checkIn(request) ? request.bufferBytes : 0, of: request)
  }

  /// Brings what is counted for a request up to date.
  @inline(__always)
  mutating func count(_ request: HTTP2Request) { setCount(request.bufferBytes, of: request) }

  @inline(__always)
  private mutating func setCount(_ bytes: Int, of request: HTTP2Request) {
    bufferBytes += bytes - request.countedBytes
    request.countedBytes = bytes
  }
}
