/// What a session keeps of one stream, for use by stream after stream.
protocol HTTP2PooledStream: AnyObject {
  /// The stream's number on its connection.
  var streamID: Int32 { get set }
  /// Place in the pool's list of live streams.
  var slot: Int { get set }
  init()
  func reset()
}

/// The streams of one session: those in use, and some that wait for use.
struct HTTP2StreamPool<Stream: HTTP2PooledStream> {
  /// Unused streams kept for the next ones, as many as busy clients open; each holds about one and a half KiB.
  static var spareLimit: Int { 128 }

  /// Retains every stream that nghttp2 holds a pointer to or that its owner has not done with.
  private(set) var live: ContiguousArray<Stream> = []
  private var spare: ContiguousArray<Stream> = []

  /// Streams in use and in wait.
  var count: Int { live.count + spare.count }

  mutating func checkOut(streamID: Int32) -> Stream {
    let stream = spare.popLast() ?? Stream()
    stream.streamID = streamID
    stream.slot = live.count
    live.append(stream)
    return stream
  }

  /// Answers whether it was kept for another use.
  @discardableResult
  mutating func checkIn(_ stream: Stream) -> Bool {
    guard stream.slot < live.count, live[stream.slot] === stream, let last = live.popLast() else {
      return false
    }
    if last !== stream {
      last.slot = stream.slot
      live[stream.slot] = last
    }
    guard spare.count < Self.spareLimit else { return false }
    stream.reset()
    spare.append(stream)
    return true
  }
}
