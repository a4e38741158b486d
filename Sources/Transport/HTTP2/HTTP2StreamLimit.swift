import CNghttp2

/// How many streams the client may have open, as announced and as acknowledged
/// (`Documentation/provider-api.md#settings`).
///
/// A client is bound by a limit only from its acknowledgement on; then one stream too many is a violation that ends the
/// connection. Between a lowered limit and its acknowledgement a stream too many is only refused. A raised limit counts
/// at once: some clients use it before they acknowledge it. Before the very first acknowledgement everything
/// up to the ceiling is taken, as Apple's Netty does, so clients that send without waiting for SETTINGS work.
package struct HTTP2StreamLimit: Equatable {
  package enum Verdict: Equatable { case accepted, refused, violated }

  /// Announcements under way at a time. A client that acknowledges none costs no more than this.
  static let maximumUnacknowledged = 2

  private var acknowledged: Int
  private var hasAcknowledged = false
  /// Announced and not acknowledged, oldest first.
  private var pending: [Int] = []
  /// To be announced when an acknowledgement makes room.
  private var waiting: Int?

  package init(initial: Int, ceiling: Int) {
    acknowledged = ceiling
    pending = [initial]
  }

  /// The newest limit that was asked for.
  var latest: Int { waiting ?? pending.last ?? acknowledged }

  /// Asks for another limit; answers whether it has to be announced now.
  package mutating func set(_ limit: Int) -> Bool {
    guard limit != latest else { return false }
    guard pending.count < Self.maximumUnacknowledged else {
      waiting = limit
      return false
    }
    pending.append(limit)
    return true
  }

  /// The client has acknowledged its oldest SETTINGS; answers a limit that has to be announced now, if any.
  package mutating func acknowledge() -> Int? {
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
  package func verdict(open: Int) -> Verdict {
    let bound = pending.reduce(acknowledged, max)
    if open > bound { return .violated }
    let announced = pending.last ?? acknowledged
    return open > announced && hasAcknowledged ? .refused : .accepted
  }
}

/// Looks at the frames that leave a server session: what a GOAWAY says is remembered, and the stream limit is written into
/// SETTINGS, as nghttp2 was told another.
struct HTTP2OutputWatch: ~Copyable {
  /// Where the frame type, flags and payload lie in a frame (RFC 9113 4.1).
  private static let typeOffset = 3
  private static let flagsOffset = 4
  private static let headerSize = 9
  /// Each entry of SETTINGS: a number of two bytes, a value of four.
  private static let settingsEntrySize = 6
  /// The longest SETTINGS frame of ours: header and five entries.
  private static let maximumSettingsFrame = headerSize + 5 * settingsEntrySize

  /// The last GOAWAY that left.
  private(set) var goAway: HTTP2GoAway?
  /// Limits to be written into SETTINGS frames that nghttp2 has yet to produce, oldest first.
  private var unsentLimits: [Int] = []
  /// Holds a SETTINGS frame while it is changed.
  private let settingsFrame = UnsafeMutableRawBufferPointer.allocate(
    byteCount: maximumSettingsFrame, alignment: 8)

  deinit { settingsFrame.deallocate() }

  /// A SETTINGS frame will leave that is to announce this limit.
  mutating func submitted(limit: Int) { unsentLimits.append(limit) }

  /// The frame as it is to leave, lent until the next call.
  mutating func inspected(_ frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard frame.count >= Self.headerSize else { return frame }
    switch nghttp2_frame_type(UInt32(frame[Self.typeOffset])) {
    case NGHTTP2_SETTINGS where frame[Self.flagsOffset] == 0: return announcingLimit(frame)
    case NGHTTP2_GOAWAY: goAway = HTTP2GoAway(payload: frame.dropFirst(Self.headerSize))
    default: break
    }
    return frame
  }

  private mutating func announcingLimit(_ frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard !unsentLimits.isEmpty, frame.count <= settingsFrame.count else { return frame }
    settingsFrame.copyMemory(from: frame)
    let limit = UInt32(clamping: unsentLimits.removeFirst())
    let wanted = UInt16(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue).bigEndian
    for entry in stride(from: Self.headerSize, to: frame.count, by: Self.settingsEntrySize)
    where frame.loadUnaligned(fromByteOffset: entry, as: UInt16.self) == wanted {
      settingsFrame.storeBytes(of: limit.bigEndian, toByteOffset: entry + 2, as: UInt32.self)
    }
    return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(settingsFrame)[..<frame.count])
  }
}
