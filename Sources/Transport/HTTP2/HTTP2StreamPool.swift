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
///
/// It owns all of them; who has one from `checkOut` borrows it until `checkIn`. Counting references as they go from list to list
/// was 1 % of the instructions of a push.
struct HTTP2StreamPool<Stream: HTTP2PooledStream>: ~Copyable {
  /// Unused streams kept for the next ones, as many as busy clients open; each holds about one and a half KiB.
  static var spareLimit: Int { 128 }

  private var used: ContiguousArray<Unmanaged<Stream>> = []
  private var spare: ContiguousArray<Unmanaged<Stream>> = []

  deinit {
    for stream in used { stream.release() }
    for stream in spare { stream.release() }
  }

  /// Those that nghttp2 holds a pointer to or that their owner has not done with.
  var live: [Stream] { used.map { $0.takeUnretainedValue() } }
  var liveCount: Int { used.count }
  /// Streams in use and in wait.
  var count: Int { used.count + spare.count }

  mutating func checkOut(streamID: Int32) -> Unmanaged<Stream> {
    let stream = spare.popLast() ?? .passRetained(Stream())
    stream._withUnsafeGuaranteedRef {
      $0.streamID = streamID
      $0.slot = used.count
    }
    used.append(stream)
    return stream
  }

  /// Answers whether it was kept for another use.
  @discardableResult
  mutating func checkIn(_ stream: Stream) -> Bool {
    let slot = stream.slot
    let returned = Unmanaged.passUnretained(stream)
    guard slot < used.count, used[slot].toOpaque() == returned.toOpaque() else { return false }
    let last = used.removeLast()
    if slot < used.count {
      last._withUnsafeGuaranteedRef { $0.slot = slot }
      used[slot] = last
    }
    guard spare.count < Self.spareLimit else {
      returned.release()
      return false
    }
    stream.reset()
    spare.append(returned)
    return true
  }
}
