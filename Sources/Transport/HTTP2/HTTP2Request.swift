import PushModel

/// One request on a server session: complete when it is handed out, then answered once.
///
/// The object belongs to its session and serves another request after it was answered and its stream closed, so
/// an owner keeps it only until it has called `respond` or `reset`; one of the two must be called, also when the client
/// has cancelled meanwhile.
public final class HTTP2Request: HTTP2PooledStream {
  enum Phase { case receiving, refused, delivered, answered }

  /// Header fields and body.
  public let message = HTTPMessage()
  /// The stream's number on its connection.
  public internal(set) var streamID: Int32 = 0
  /// Whether the stream ended before the answer, so that nobody will read it.
  public internal(set) var isCancelled = false
  /// Whether the owner has yet to answer it.
  public var isUnanswered: Bool { phase == .delivered }
  /// Anything the owner wants to find again with the request.
  public var context = 0

  var phase = Phase.receiving
  /// The header list is longer than announced; what follows is not kept.
  var isTooLarge = false
  var slot = 0
  /// nghttp2 has closed the stream.
  var isClosed = false
  let answer = HTTP2AnswerBuffer()
  /// The phase at the last look at what is overdue, and since when it lasts; monotonic nanoseconds.
  fileprivate var seenPhase: Phase?
  fileprivate var seenAt: Int64 = 0
  /// Bytes that its session counts for message and answer.
  var countedBytes = 0

  init() {}

  /// What a request costs without its message and answer, in bytes: three objects and their tables.
  static let baseBytes = 768
  /// Bytes held for message and answer.
  var bufferBytes: Int { message.storageBytes + answer.bodyBytes }

  func reset() {
    message.reset()
    (streamID, context, phase) = (0, 0, .receiving)
    (isCancelled, isClosed, isTooLarge) = (false, false, false)
    seenPhase = nil
    answer.reset()
  }
}

/// Finds clients that begin and never end, or never take what they asked for. Moments are monotonic nanoseconds.
struct HTTP2OverdueWatch {
  /// When the header block that is coming was first seen not to be whole; 0 for not yet.
  private var headersSeenAt: Int64 = 0

  mutating func headersBegan() { headersSeenAt = 0 }

  mutating func isLate(isAmidHeaders: Bool, _ options: HTTP2Options, _ now: Int64) -> Bool {
    guard isAmidHeaders else { return false }
    if headersSeenAt == 0 { headersSeenAt = now }
    return now - headersSeenAt >= options.headerTime
  }

  /// Those that are to be reset.
  func late(_ requests: [HTTP2Request], _ options: HTTP2Options, _ now: Int64) -> [HTTP2Request] {
    requests.filter { request in
      if request.seenPhase != request.phase { (request.seenPhase, request.seenAt) = (request.phase, now) }
      guard let time = patience(request.phase, options), now - request.seenAt >= time else { return false }
      // Again only after as long: what is reset may not have left.
      request.seenAt = now
      return true
    }
  }

  private func patience(_ phase: HTTP2Request.Phase, _ options: HTTP2Options) -> Int64? {
    switch phase {
    case .receiving: options.requestTime
    case .answered, .refused: options.answerTime
    // It waits for us.
    case .delivered: nil
    }
  }
}
