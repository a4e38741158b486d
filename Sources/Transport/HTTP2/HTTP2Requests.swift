import Basics
import PushModel

/// The requests of one server session, from the first frame of each until nobody needs it.
///
///     began ─ frames ─→ delivered ─ next() ─→ its owner's ─ answered, stream closed ─→ recycled
///
/// An object of its own, so that a look at one of its properties is no access to all of them.
final class HTTP2RequestQueue {
  private var pool = HTTP2StreamPool<HTTP2Request>()
  /// The request whose frames are arriving.
  private var current: HTTP2Request?
  /// The one that the fields of the header block go to that is arriving; nil if nobody wants them.
  private(set) var takingFields: HTTP2Request?
  /// Whole requests that were not yet taken, from `nextArrival` on.
  private var arrivals: ContiguousArray<HTTP2Request> = []
  private var nextArrival = 0
  /// Bytes held by messages and answers.
  private var bufferBytes = 0

  /// Those in use.
  var live: [HTTP2Request] { pool.live }
  /// How many are in use.
  var liveCount: Int { pool.liveCount }
  /// In bytes.
  var heldBytes: Int { bufferBytes + pool.count * HTTP2Request.baseBytes }
  /// Whether the request whose frames came last still takes bytes.
  var isReceiving: Bool { current?.phase == .receiving }

  /// The request whose frames came last, if it still takes bytes.
  var receiving: HTTP2Request? { isReceiving ? current : nil }

  /// The request that still takes bytes of this stream. Most often it is the one whose frames came last.
  func receiving(_ streamID: Int32, in session: HTTP2Session) -> HTTP2Request? {
    if current?.streamID == streamID { return receiving }
    guard let request = request(streamID, in: session), request.phase == .receiving else { return nil }
    (current, takingFields) = (request, nil)
    return request
  }

  /// The request in a slot.
  func request(at slot: Int) -> HTTP2Request? { pool[slot] }

  private func request(_ streamID: Int32, in session: HTTP2Session) -> HTTP2Request? {
    session.slot(of: streamID).flatMap { pool[$0] }
  }

  func began(_ streamID: Int32) -> HTTP2Request {
    let request = pool.checkOut(streamID: streamID)
    (current, takingFields) = (request, request)
    return request
  }

  /// What comes of a request is not kept any more.
  func refused(_ request: HTTP2Request) {
    request.phase = .refused
    takingFields = nil
  }

  func delivered(_ request: HTTP2Request) {
    request.phase = .delivered
    nothingArrives()
    arrivals.append(request)
  }

  func nothingArrives() { (current, takingFields) = (nil, nil) }

  /// The next whole request, oldest first.
  func next() -> HTTP2Request? {
    guard nextArrival < arrivals.count else {
      if nextArrival > 0 {
        arrivals.removeAll(keepingCapacity: true)
        nextArrival = 0
      }
      return nil
    }
    nextArrival += 1
    return arrivals[nextArrival - 1]
  }

  /// The stream is gone; nghttp2 forgets its slot.
  func closed(_ streamID: Int32, in session: HTTP2Session) {
    guard let request = request(streamID, in: session) else { return }
    request.hasLeft = request.phase == .delivered
    request.isClosed = true
    if current === request { nothingArrives() }
    recycleIfDone(request)
  }

  func recycleIfDone(_ request: HTTP2Request) {
    guard request.isClosed, request.phase != .delivered else { return }
    setCount(pool.checkIn(request) ? request.bufferBytes : 0, of: request)
  }

  /// Brings what is counted for a request up to date.
  @inline(__always)
  func count(_ request: HTTP2Request) { setCount(request.bufferBytes, of: request) }

  @inline(__always)
  private func setCount(_ bytes: Int, of request: HTTP2Request) {
    bufferBytes += bytes - request.countedBytes
    request.countedBytes = bytes
  }
}

/// What a session keeps of one stream, for use by stream after stream.
public class HTTP2Stream {
  /// The stream's number on its connection.
  public final var streamID: Int32 { number }
  /// The same, kept where only this module sees it: others' looks would have each access checked.
  final var number: Int32 = 0
  /// Header fields and body that come.
  public internal(set) final var message: HTTPMessage
  /// Place in the pool, by which nghttp2 knows it.
  fileprivate(set) final var slot = 0
  /// The body that goes, and how much of it has gone, in bytes.
  final var outgoing: [UInt8] = []
  private final var sent = 0

  /// A copy of what was kept of the body that came.
  public final var body: [UInt8] {
    let message = message
    return [UInt8](message.body)
  }

  init(_ message: HTTPMessage) { self.message = message }

  required init() { message = HTTPMessage() }

  func reset() {
    message.reset()
    (number, outgoing, sent) = (0, [], 0)
  }

  /// Whether all of its body has gone.
  final var isSent: Bool { sent == outgoing.count }

  /// The next piece of its body, which goes now.
  final func nextPiece(atMost size: Int) -> ArraySlice<UInt8> {
    let piece = outgoing.dropFirst(sent).prefix(size)
    sent += piece.count
    return piece
  }
}

/// The streams of one session: those in use, each in its slot, and some that wait for use.
struct HTTP2StreamPool<Stream: HTTP2Stream>: ~Copyable {
  /// Unused streams kept for the next ones, as many as busy clients open; each holds about one and a half KiB.
  static var spareLimit: Int { 128 }

  private var slots: ContiguousArray<Stream?> = []
  private var freeSlots: ContiguousArray<Int> = []
  private var spare: ContiguousArray<Stream> = []

  /// Those that nghttp2 knows or that their owner has not done with.
  var live: [Stream] { slots.compactMap { $0 } }
  var liveCount: Int { slots.count - freeSlots.count }
  /// Streams in use and in wait.
  var count: Int { liveCount + spare.count }

  subscript(slot: Int) -> Stream? { slots.indices.contains(slot) ? slots[slot] : nil }

  mutating func checkOut(streamID: Int32) -> Stream {
    let stream = spare.popLast() ?? Stream()
    stream.number = streamID
    if let slot = freeSlots.popLast() {
      stream.slot = slot
      slots[slot] = stream
    } else {
      stream.slot = slots.count
      slots.append(stream)
    }
    return stream
  }

  /// Answers whether it was kept for another use.
  @discardableResult
  mutating func checkIn(_ stream: Stream) -> Bool {
    guard self[stream.slot] === stream else { return false }
    slots[stream.slot] = nil
    freeSlots.append(stream.slot)
    guard spare.count < Self.spareLimit else { return false }
    stream.reset()
    spare.append(stream)
    return true
  }
}

/// How many streams the client may have open, as announced and as acknowledged
/// (`Documentation/provider-api.md#settings`).
///
/// A client is bound by a limit only from its acknowledgement on; then one stream too many is a violation that ends the
/// connection. Between a lowered limit and its acknowledgement a stream too many is only refused. A raised limit counts
/// at once: some clients use it before they acknowledge it. Before the very first acknowledgement everything
/// up to the ceiling is taken, as Apple's Netty does, so clients that send without waiting for SETTINGS work.
public struct HTTP2StreamLimit: Equatable {
  public enum Verdict: Equatable { case accepted, refused, violated }

  /// Announcements under way at a time. A client that acknowledges none costs no more than this.
  static let maximumUnacknowledged = 2

  private var acknowledged: Int
  private var hasAcknowledged = false
  /// Announced and not acknowledged, oldest first.
  private var pending: [Int] = []
  /// To be announced when an acknowledgement makes room.
  private var waiting: Int?

  public init(initial: Int, ceiling: Int) {
    acknowledged = ceiling
    pending = [initial]
  }

  /// The newest limit that was asked for.
  var latest: Int { waiting ?? pending.last ?? acknowledged }

  /// Asks for another limit; answers whether it has to be announced now.
  public mutating func set(_ limit: Int) -> Bool {
    guard limit != latest else { return false }
    guard pending.count < Self.maximumUnacknowledged else {
      waiting = limit
      return false
    }
    pending.append(limit)
    return true
  }

  /// The client has acknowledged its oldest SETTINGS; answers a limit that has to be announced now, if any.
  public mutating func acknowledge() -> Int? {
    guard !pending.isEmpty else { return nil }
    acknowledged = pending.removeFirst()
    hasAcknowledged = true
    guard let next = waiting else { return nil }
    waiting = nil
    guard next != latest else { return nil }
    pending.append(next)
    return next
  }

  /// Judges a new stream, with `open` streams including it.
  public func verdict(open: Int) -> Verdict {
    let bound = pending.reduce(acknowledged, max)
    if open > bound { return .violated }
    let announced = pending.last ?? acknowledged
    return open > announced && hasAcknowledged ? .refused : .accepted
  }
}

/// One request on a server session: complete when it is handed out, then answered once.
///
/// The object belongs to its session and serves another request after it was answered and its stream closed, so
/// an owner keeps it only until it has called `respond` or `reset`; one of the two must be called, also when the client
/// has cancelled meanwhile.
public final class HTTP2Request: HTTP2Stream {
  enum Phase { case receiving, refused, delivered, answered }

  /// Whether the stream ended before the answer, so that nobody will read it.
  public var isCancelled: Bool { hasLeft }
  fileprivate var hasLeft = false
  /// Whether the owner has yet to answer it.
  public var isUnanswered: Bool { phase == .delivered }

  var phase = Phase.receiving
  /// The header list is longer than announced; what follows is not kept.
  var isTooLarge = false
  /// nghttp2 has closed the stream.
  var isClosed = false
  /// The phase at the last look at what is overdue, and since when it lasts.
  fileprivate var seenPhase: Phase?
  fileprivate var seenAt = Instant.distantPast
  /// Bytes that its session counts for message and answer.
  var countedBytes = 0

  /// What a request costs without its message and answer, in bytes: two objects and their tables.
  static let baseBytes = 768
  /// Answers to HEAD have no body.
  var isHead: Bool {
    let message = message
    return message[.method].flatMap { $0.spells("HEAD") } ?? false
  }
  /// Bytes held for message and answer.
  var bufferBytes: Int { message.storageBytes + outgoing.count }

  override func reset() {
    super.reset()
    phase = .receiving
    (hasLeft, isClosed, isTooLarge) = (false, false, false)
    seenPhase = nil
  }
}

extension HTTP2ServerSession {
  /// What took too long.
  public struct Overdue: Equatable {
    /// A header block is not whole, and until it is nothing else can come: the session is to end.
    public var isAmidHeaders: Bool
    /// Streams that were reset.
    public var streams: Int

    package init(isAmidHeaders: Bool = false, streams: Int = 0) {
      (self.isAmidHeaders, self.streams) = (isAmidHeaders, streams)
    }
  }
}

/// Finds clients that begin and never end, or never take what they asked for.
struct HTTP2OverdueWatch {
  /// When the header block that is coming was first seen not to be whole; nil for not yet.
  private var headersSeenAt: Instant?

  mutating func headersBegan() { headersSeenAt = nil }

  mutating func isLate(isAmidHeaders: Bool, _ options: HTTP2Options, _ now: Instant) -> Bool {
    guard isAmidHeaders else { return false }
    let seenAt = headersSeenAt ?? now
    headersSeenAt = seenAt
    return now.nanoseconds(since: seenAt) >= options.headerTime
  }

  /// Those that are to be reset.
  func late(_ requests: [HTTP2Request], _ options: HTTP2Options, _ now: Instant) -> [HTTP2Request] {
    requests.filter { request in
      if request.seenPhase != request.phase { (request.seenPhase, request.seenAt) = (request.phase, now) }
      guard let time = timeout(request.phase, options), now.nanoseconds(since: request.seenAt) >= time else {
        return false
      }
      // Again only after as long: what is reset may not have left.
      request.seenAt = now
      return true
    }
  }

  private func timeout(_ phase: HTTP2Request.Phase, _ options: HTTP2Options) -> Int64? {
    switch phase {
    case .receiving: options.requestTime
    case .answered, .refused: options.answerTime
    // It waits for us.
    case .delivered: nil
    }
  }
}
