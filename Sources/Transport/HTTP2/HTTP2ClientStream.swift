import PushModel

/// One exchange on a client session. The object serves another one after its event was taken.
public final class HTTP2ClientStream: HTTP2PooledStream {
  /// Most bytes of an answer kept: a list of ten thousand channels
  /// (`Documentation/provider-api.md#channel-management`).
  public static let answerBodyLimit = 1 << 20

  /// Header fields and body of the answer.
  public let message = HTTPMessage(bodyLimit: answerBodyLimit)
  /// The stream's number on its connection.
  public internal(set) var streamID: Int32 = 0
  /// What the caller gave to `submit`.
  public internal(set) var context = 0

  var slot = 0
  var head: HTTP2RequestHead?
  let body = HTTP2AnswerBuffer()

  init() {}

  /// The answer's status, or 0 if none came.
  public var status: Int {
    // nghttp2 takes three digits for a status; those below 100 are none (RFC 9110 15).
    guard let digits = message[.status], digits.count == 3, digits[0] != UInt8(ascii: "0") else { return 0 }
    return digits.reduce(0) { $0 * 10 + Int($1) - 48 }
  }

  /// A header block is whole. An interim answer (1xx) tells nothing of what becomes of the request, and its fields are not
  /// the answer's (RFC 9110 15.2).
  func headersEnded() {
    if status / 100 == 1 { message.reset() }
  }

  func reset() {
    message.reset()
    (streamID, context, head) = (0, 0, nil)
    body.reset()
  }
}
