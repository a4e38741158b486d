import Basics
import CNghttp2

/// Looks at the frames that leave a server session: what a GOAWAY says is remembered, and the stream limit is written into
/// SETTINGS, as nghttp2 was told another.
struct HTTP2OutputWatch {
  /// Where the frame type, flags and payload lie in a frame (RFC 9113 4.1).
  private static let typeOffset = 3
  private static let flagsOffset = 4
  private static let headerSize = 9
  /// Each entry of SETTINGS: a number of two bytes, a value of four.
  private static let settingsEntrySize = 6

  /// The longest debug data of a GOAWAY of our own, in bytes: of the payload that every client takes (RFC 9113 4.2), without the
  /// two numbers before it.
  fileprivate static let maximumDebugData = 16_384 - 8

  /// The last GOAWAY that left and ends the session.
  private(set) var goAway: HTTP2GoAway?
  /// A GOAWAY that nghttp2 does not know of and that has yet to leave; empty without one.
  private var ownGoAway: [UInt8] = []
  /// Limits to be written into SETTINGS frames that nghttp2 has yet to produce, oldest first.
  private var unsentLimits: [Int] = []

  var hasOwnGoAway: Bool { !ownGoAway.isEmpty }

  /// A GOAWAY is to leave behind which the session goes on: after one of its own nghttp2 takes no stream at all, not even to
  /// refuse it. One that has yet to leave gives way to it.
  mutating func submit(_ goAway: HTTP2GoAway) { ownGoAway = goAway.frame }

  /// That GOAWAY need not leave: another says more.
  mutating func callOffOwnGoAway() { ownGoAway = [] }

  /// That GOAWAY; nil if there is none to leave.
  mutating func takeOwnGoAway() -> [UInt8]? {
    defer { ownGoAway = [] }
    return hasOwnGoAway ? ownGoAway : nil
  }

  /// A SETTINGS frame will leave that is to announce this limit.
  mutating func submitted(limit: Int) { unsentLimits.append(limit) }

  /// What is to leave in place of a frame; nil for the frame itself.
  @inline(__always)
  mutating func replacement(of frame: Span<UInt8>) -> [UInt8]? {
    guard frame.count >= Self.headerSize else { return nil }
    let type = nghttp2_frame_type(UInt32(frame[Self.typeOffset]))
    guard type == NGHTTP2_SETTINGS || type == NGHTTP2_GOAWAY else { return nil }
    return replacement(of: frame, type)
  }

  private mutating func replacement(of frame: Span<UInt8>, _ type: nghttp2_frame_type) -> [UInt8]? {
    if type == NGHTTP2_GOAWAY {
      goAway = HTTP2GoAway(payload: frame.dropping(Self.headerSize))
      return nil
    }
    guard frame[Self.flagsOffset] == 0, !unsentLimits.isEmpty else { return nil }
    return announcing(unsentLimits.removeFirst(), in: frame)
  }

  private func announcing(_ limit: Int, in frame: Span<UInt8>) -> [UInt8] {
    var settings = [UInt8](frame)
    let wanted = UInt16(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue)
    for entry in stride(from: Self.headerSize, to: frame.count, by: Self.settingsEntrySize)
    where frame.bigEndian(UInt16.self, at: entry) == wanted {
      settings.replace(bigEndian: UInt32(clamping: limit), at: entry + 2)
    }
    return settings
  }
}

extension HTTP2GoAway {
  /// Reads the frame's payload (RFC 9113 6.8); nil if it is too short.
  fileprivate init?(payload: Span<UInt8>) {
    guard payload.count >= 8 else { return nil }
    self.init(
      lastStreamID: payload.bigEndian(Int32.self, at: 0),
      errorCode: HTTP2ErrorCode(rawValue: payload.bigEndian(UInt32.self, at: 4)),
      debugData: [UInt8](payload.dropping(8)))
  }

  /// The whole frame, with as much of the debug data as one may have.
  fileprivate var frame: [UInt8] {
    let text = debugData.prefix(HTTP2OutputWatch.maximumDebugData)
    var frame: [UInt8] = []
    frame.append(bigEndian: UInt32(8 + text.count) << 8 | UInt32(NGHTTP2_GOAWAY.rawValue))
    frame += [0, 0, 0, 0, 0]
    frame.append(bigEndian: lastStreamID)
    frame.append(bigEndian: errorCode.rawValue)
    return frame + text
  }
}
