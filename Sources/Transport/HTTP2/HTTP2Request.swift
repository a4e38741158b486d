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
  var seenPhase: Phase?
  var seenAt: Int64 = 0
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
