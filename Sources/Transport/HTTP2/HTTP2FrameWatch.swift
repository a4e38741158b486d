import Basics

/// Follows the heads of the frames that a client sends, ahead of nghttp2, to see what that passes over in silence: it
/// forgets a stream that has closed, and could keep only some of them at a price that every connection pays.
///
/// What nghttp2 judges itself is left to it. Frames are counted here too, for nghttp2 tells of few that lead to nothing.
struct HTTP2FrameWatch {
  /// A frame that the client may not send. Its head begins at `headOffset` of the bytes.
  struct Finding {
    enum Consequence {
      case streamError(HTTP2ErrorCode)
      case connectionError(HTTP2ErrorCode)
      /// Unless requests before it or time have given some back, the allowance is used up.
      case overdrawn
    }

    var consequence: Consequence
    var streamID: Int32
    var frameType: UInt8
    var sentence: StaticString
    var headOffset: Int
  }

  /// The nine bytes before each frame's payload (RFC 9113 4.1).
  private struct Head {
    static let byteCount = 9
    /// Length, type and flags.
    var upper: UInt64 = 0
    /// Reserved bit and stream.
    var lower: UInt32 = 0

    var length: Int { Int(upper >> 16 & 0xff_ffff) }
    var type: UInt8 { UInt8(truncatingIfNeeded: upper >> 8) }
    var flags: UInt8 { UInt8(truncatingIfNeeded: upper) }
    var streamID: Int32 { Int32(truncatingIfNeeded: lower & 0x7fff_ffff) }
  }

  private static let endStream: UInt8 = 1
  private static let endHeaders: UInt8 = 4

  private var head = Head()
  /// How much of the next head has come.
  private var headCount = 0
  private var payloadLeft = 0
  /// Only CONTINUATION may come; nghttp2 sees to that.
  private var isAmidBlock = false
  private var streams = HTTP2ClientStreams()
  /// A header block longer than those of requests has come: what follows goes to nghttp2 in small pieces.
  private(set) var hasSeenLongBlock = false
  /// The longest header block, in bytes, that need not be looked at twice. Those of provider libraries take some 300.
  static let usualBlock = 512
  var allowance: HTTP2FrameAllowance

  init(_ allowance: HTTP2FrameAllowance) { self.allowance = allowance }

  /// Whether a header block has begun and is not whole.
  var isAmidHeaders: Bool {
    let isOfBlock = head.type == HTTP2FrameType.headers || head.type == HTTP2FrameType.continuation
    return isAmidBlock || payloadLeft > 0 && isOfBlock
  }

  /// GOAWAY was said, and how many streams the client has opened since.
  var saidGoAway = false
  private(set) var streamsAfterGoAway = 0

  /// Goes on from `position`, and stops behind the head of a frame that is not allowed; nil at the end of the bytes.
  mutating func next(in bytes: Span<UInt8>, from position: inout Int) -> Finding? {
    while true {
      let passed = min(payloadLeft, bytes.count - position)
      position += passed
      payloadLeft -= passed
      guard payloadLeft == 0, readHead(bytes, &position) else { return nil }
      payloadLeft = head.length
      guard var finding = judge() else { continue }
      finding.headOffset = max(0, position - Head.byteCount)
      return finding
    }
  }

  /// Whether the head is whole.
  private mutating func readHead(_ bytes: Span<UInt8>, _ position: inout Int) -> Bool {
    while position < bytes.count, headCount < Head.byteCount {
      let byte = bytes[position]
      if headCount < 5 {
        head.upper = head.upper << 8 | UInt64(byte)
      } else {
        head.lower = head.lower << 8 | UInt32(byte)
      }
      headCount += 1
      position += 1
    }
    guard headCount == Head.byteCount else { return false }
    headCount = 0
    return true
  }

  private mutating func judge() -> Finding? {
    allowance.charge(head.type == HTTP2FrameType.settings ? HTTP2FrameAllowance.settingsPrice : 1)
    if let finding = judgeStream() { return finding }
    return allowance.isOverdrawn ? overdrawn : nil
  }

  /// What is to be said of the present frame if nothing has paid for it.
  var overdrawn: Finding {
    finding(.overdrawn, "too many frames or header fields for the number of requests")
  }

  private mutating func judgeStream() -> Finding? {
    let (type, flags, streamID) = (head.type, head.flags, head.streamID)
    if head.length > Self.usualBlock, type == HTTP2FrameType.headers || type == HTTP2FrameType.continuation {
      hasSeenLongBlock = true
    }
    guard !isAmidBlock else {
      if type == HTTP2FrameType.continuation { isAmidBlock = flags & Self.endHeaders == 0 }
      return nil
    }
    switch type {
    case HTTP2FrameType.headers:
      isAmidBlock = flags & Self.endHeaders == 0
      guard streamID & 1 == 1, streams.isNew(streamID) else { return message(streamID) }
      if saidGoAway { streamsAfterGoAway += 1 }
      streams.open(streamID, as: flags & Self.endStream == 0 ? .open : .ended)
    case HTTP2FrameType.data: return message(streamID)
    case HTTP2FrameType.resetStream: cancelled(streamID)
    default: break
    }
    return nil
  }

  /// DATA, or HEADERS that open no stream.
  private mutating func message(_ streamID: Int32) -> Finding? {
    guard streamID & 1 == 1, let state = streams.state(of: streamID) else { return nil }
    switch state {
    case .open:
      if head.flags & Self.endStream != 0 { streams.set(streamID, .ended) }
      return nil
    case .ended: return finding(.connectionError(.streamClosed), "stream was ended by its client")
    case .reset:
      // Told once: a flood of such frames must not become one of answers.
      streams.set(streamID, .ended)
      return finding(.streamError(.streamClosed), "stream was reset by its client")
    case .unopened where head.type == HTTP2FrameType.headers:
      return finding(.connectionError(.protocolError), "stream id below an earlier one")
    case .unopened: return finding(.connectionError(.streamClosed), "stream was never opened")
    }
  }

  private mutating func cancelled(_ streamID: Int32) {
    guard streamID & 1 == 1, let state = streams.state(of: streamID), state != .unopened else { return }
    streams.set(streamID, .reset)
  }

  private func finding(_ consequence: Finding.Consequence, _ sentence: StaticString) -> Finding {
    Finding(
      consequence: consequence, streamID: head.streamID, frameType: head.type, sentence: sentence,
      headOffset: 0)
  }
}

/// The kinds of frames that are looked at (RFC 9113 6).
private enum HTTP2FrameType {
  static let data: UInt8 = 0
  static let headers: UInt8 = 1
  static let resetStream: UInt8 = 3
  static let settings: UInt8 = 4
  static let continuation: UInt8 = 9
}

/// How many frames a client may send that lead to nothing: empty DATA, WINDOW_UPDATE, PRIORITY, PING, unknown kinds. Each
/// costs more than its nine bytes; so each takes one from the allowance, requests and time give some back, and who has
/// none left hears ENHANCE_YOUR_CALM (RFC 9113 10.5).
struct HTTP2FrameAllowance {
  /// SETTINGS is answered, and may touch every open stream.
  static let settingsPrice = 16
  /// Bytes of a useless header field that cost as much as an empty frame: nghttp2 checks two in a nanosecond.
  static let fieldBytes = 256

  private let capacity: Int
  private let perSecond: Int
  private let perRequest: Int
  private(set) var left: Int
  /// Up to when time has been paid out.
  private var paidUntil: Instant

  init(_ options: HTTP2Options, now: Instant) {
    (capacity, perSecond) = (options.idleFrames, options.idleFramesPerSecond)
    perRequest = options.idleFramesPerRequest
    (left, paidUntil) = (capacity, now)
  }

  var isOverdrawn: Bool { left < 0 }

  @inline(__always)
  mutating func charge(_ price: Int = 1) { left -= price }

  mutating func requestCame() { left = min(capacity, left + perRequest) }

  /// Pays out for the time since the last call; it is asked for only when nothing is left.
  mutating func timePassed(_ now: Instant) {
    guard perSecond > 0 else { return }
    let price = 1_000_000_000 / Int64(perSecond)
    let gained = now.nanoseconds(since: paidUntil) / price
    paidUntil = paidUntil.adding(nanoseconds: gained * price)
    left = min(capacity, left + Int(gained))
  }
}

/// What a client has done with its newest streams: a byte for each, so a connection pays two KiB.
///
/// Only the client's half is followed, and only its own frames change that; so what crosses a reset of ours on its way is
/// never taken for a violation.
public struct HTTP2ClientStreams {
  public enum State: UInt8 {
    /// Passed over: a higher stream was opened first (RFC 9113 5.1.1).
    case unopened
    /// The client may send more.
    case open
    /// The client has sent END_STREAM.
    case ended
    /// The client has sent RST_STREAM.
    case reset
  }

  /// How many streams are remembered: twice as many as may be open (`HTTP2Options.usualStreams`), as a power of two.
  public static let remembered = 2048

  private var states = [State](repeating: .unopened, count: remembered)
  /// Number of the highest stream opened, counting the client's odd ids from 0.
  private var highest = -1

  public init() {}

  /// Nil for a stream that is still idle, or that was forgotten.
  public func state(of streamID: Int32) -> State? {
    let number = Int(streamID) >> 1
    guard number <= highest, number > highest - Self.remembered else { return nil }
    return states[Self.place(number)]
  }

  func isNew(_ streamID: Int32) -> Bool { Int(streamID) >> 1 > highest }

  /// Opens a stream that is new; those below it are passed over.
  public mutating func open(_ streamID: Int32, as state: State) {
    let number = Int(streamID) >> 1
    for skipped in max(highest + 1, number - Self.remembered + 1)..<number {
      states[Self.place(skipped)] = .unopened
    }
    highest = number
    states[Self.place(number)] = state
  }

  /// Changes a stream that is remembered.
  public mutating func set(_ streamID: Int32, _ state: State) {
    states[Self.place(Int(streamID) >> 1)] = state
  }

  @inline(__always)
  private static func place(_ number: Int) -> Int { number & (remembered - 1) }
}
