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
  /// Up to when time has been paid out; monotonic nanoseconds.
  private var paidUntil: Int64

  init(_ options: HTTP2Options, now: Int64) {
    (capacity, perSecond) = (options.idleFrames, options.idleFramesPerSecond)
    perRequest = options.idleFramesPerRequest
    (left, paidUntil) = (capacity, now)
  }

  var isOverdrawn: Bool { left < 0 }

  @inline(__always)
  mutating func charge(_ price: Int = 1) { left -= price }

  mutating func requestCame() { left = min(capacity, left + perRequest) }

  /// Pays out for the time since the last call; it is asked for only when nothing is left.
  mutating func timePassed(_ now: Int64) {
    guard perSecond > 0 else { return }
    let price = 1_000_000_000 / Int64(perSecond)
    let gained = (now - paidUntil) / price
    paidUntil += gained * price
    left = min(capacity, left + Int(gained))
  }
}
