import CNghttp2

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

  /// The longest debug data of a GOAWAY of our own, in bytes: of the payload that every client takes (RFC 9113 4.2), without the
  /// two numbers before it.
  fileprivate static let maximumDebugData = 16_384 - 8

  /// The last GOAWAY that left and ends the session.
  private(set) var goAway: HTTP2GoAway?
  /// A GOAWAY that nghttp2 does not know of, and whether it has yet to leave.
  private var ownGoAway: UnsafeMutableRawBufferPointer?
  private(set) var hasOwnGoAway = false
  /// Limits to be written into SETTINGS frames that nghttp2 has yet to produce, oldest first.
  private var unsentLimits: [Int] = []
  /// Holds a SETTINGS frame while it is changed.
  private let settingsFrame = UnsafeMutableRawBufferPointer.allocate(
    byteCount: maximumSettingsFrame, alignment: 8)

  deinit {
    settingsFrame.deallocate()
    ownGoAway?.deallocate()
  }

  /// A GOAWAY is to leave behind which the session goes on: after one of its own nghttp2 takes no stream at all, not even to
  /// refuse it. One that has yet to leave gives way to it.
  mutating func submit(_ goAway: HTTP2GoAway) {
    ownGoAway?.deallocate()
    let frame = goAway.frame
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: frame.count, alignment: 8)
    memory.copyBytes(from: frame)
    (ownGoAway, hasOwnGoAway) = (memory, true)
  }

  /// That GOAWAY need not leave: another says more.
  mutating func callOffOwnGoAway() { hasOwnGoAway = false }

  /// That GOAWAY, lent until the next is submitted; nil if there is none to leave.
  mutating func takeOwnGoAway() -> UnsafeRawBufferPointer? {
    guard hasOwnGoAway, let ownGoAway else { return nil }
    hasOwnGoAway = false
    return UnsafeRawBufferPointer(ownGoAway)
  }

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

extension HTTP2GoAway {
  /// Reads the frame's payload (RFC 9113 6.8); nil if it is too short.
  fileprivate init?(payload: Slice<UnsafeRawBufferPointer>) {
    let words = UnsafeRawBufferPointer(rebasing: payload)
    guard words.count >= 8 else { return nil }
    lastStreamID = Int32(bigEndian: words.loadUnaligned(as: Int32.self))
    errorCode = HTTP2ErrorCode(
      rawValue: UInt32(bigEndian: words.loadUnaligned(fromByteOffset: 4, as: UInt32.self)))
    debugData = Array(words[8...])
  }

  /// The whole frame, with as much of the debug data as one may have.
  fileprivate var frame: [UInt8] {
    let text = debugData.prefix(HTTP2OutputWatch.maximumDebugData)
    let count = UInt32(8 + text.count)
    let head = count.bigEndianBytes.dropFirst() + [UInt8(NGHTTP2_GOAWAY.rawValue), 0, 0, 0, 0, 0]
    return head + UInt32(bitPattern: lastStreamID).bigEndianBytes + errorCode.rawValue.bigEndianBytes + text
  }
}

extension UInt32 {
  fileprivate var bigEndianBytes: [UInt8] { withUnsafeBytes(of: bigEndian, Array.init) }
}
