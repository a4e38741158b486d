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
