import PushModel

/// What a client has done with its newest streams: two bits for each, so a connection pays half a KiB.
///
/// Only the client's half is followed, and only its own frames change that; so what crosses a reset of ours on its way is
/// never taken for a violation.
package struct HTTP2ClientStreams {
  package enum State: UInt64 {
    /// Passed over: a higher stream was opened first (RFC 9113 5.1.1).
    case unopened
    /// The client may send more.
    case open
    /// The client has sent END_STREAM.
    case ended
    /// The client has sent RST_STREAM.
    case reset
  }

  /// How many streams are remembered: twice as many as may be open (`HTTP2Settings.streams`), as a power of two.
  package static let remembered = 2048
  private static let perWord = 32

  private var words = [UInt64](repeating: 0, count: remembered / perWord)
  /// Number of the highest stream opened, counting the client's odd ids from 0.
  private var highest = -1

  package init() {}

  /// Nil for a stream that is still idle, or that was forgotten.
  package func state(of streamID: Int32) -> State? {
    let number = Int(streamID) >> 1
    guard number <= highest, number > highest - Self.remembered else { return nil }
    let (word, shift) = Self.place(number)
    return State(rawValue: words[word] >> shift & 3)
  }

  func isNew(_ streamID: Int32) -> Bool { Int(streamID) >> 1 > highest }

  /// Opens a stream that is new; those below it are passed over.
  package mutating func open(_ streamID: Int32, as state: State) {
    let number = Int(streamID) >> 1
    for skipped in max(highest + 1, number - Self.remembered + 1)..<number { store(skipped, .unopened) }
    highest = number
    store(number, state)
  }

  /// Changes a stream that is remembered.
  package mutating func set(_ streamID: Int32, _ state: State) { store(Int(streamID) >> 1, state) }

  private mutating func store(_ number: Int, _ state: State) {
    let (word, shift) = Self.place(number)
    words[word] = words[word] & ~(3 << shift) | state.rawValue << shift
  }

  @inline(__always)
  private static func place(_ number: Int) -> (word: Int, shift: UInt64) {
    let slot = number & (remembered - 1)
    return (slot / perWord, UInt64(slot % perWord * 2))
  }
}

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
