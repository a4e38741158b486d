import CNghttp2

extension HTTP2ServerSession {
  /// Where the frame type, flags and payload lie in a frame (RFC 9113 4.1).
  private static let typeOffset = 3
  private static let flagsOffset = 4
  static let headerSize = 9
  /// Each entry of SETTINGS: a number of two bytes, a value of four.
  private static let settingsEntrySize = 6
  /// The longest SETTINGS frame of ours: header and five entries.
  static let maximumSettingsFrame = headerSize + 5 * settingsEntrySize

  /// The stream limit last asked for.
  public var maximumConcurrentStreams: Int { streamLimit.latest }

  /// Announces another stream limit. While the client owes acknowledgements of earlier ones, the newest limit waits.
  public func setMaximumConcurrentStreams(_ limit: Int) {
    let bounded = min(max(0, limit), options.streamCeiling)
    if streamLimit.set(bounded) { submitSettings(limit: bounded) }
  }

  /// Tells the client that no new stream will be served, and why. Streams up to the last one taken are still answered, and
  /// then the session is finished.
  ///
  /// - Parameters:
  ///   - lastStreamID: the highest stream that was or may be processed; nil for the highest taken so far.
  ///   - debugData: a JSON object with `reason`, or plain text.
  public func goAway(_ code: HTTP2ErrorCode = .noError, lastStreamID: Int32? = nil, debugData: [UInt8] = []) {
    let last = min(lastStreamID ?? lastTakenStreamID, lastPromisedStreamID)
    lastPromisedStreamID = last
    HTTP2Library.submitGoAway(handle, lastStreamID: last, code, debugData: debugData)
  }

  /// nghttp2 is told twice the ceiling: it would break the connection over an acknowledged limit with words of its own,
  /// and refuse streams sent before the first acknowledgement. Who goes on opening streams after ours it does end. The
  /// true limit is written in as the frame leaves.
  func submitSettings(limit: Int) {
    unsentLimits.append(limit)
    let entries = options.settings.entries(streams: 2 * options.streamCeiling)
    nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), entries, entries.count)
  }

  /// Looks at a frame on its way out.
  func inspected(_ frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    guard frame.count >= Self.headerSize else { return frame }
    switch nghttp2_frame_type(UInt32(frame[Self.typeOffset])) {
    case NGHTTP2_SETTINGS where frame[Self.flagsOffset] == 0: return announcingLimit(frame)
    case NGHTTP2_GOAWAY: sentGoAway = HTTP2GoAway(payload: frame.dropFirst(Self.headerSize))
    default: break
    }
    return frame
  }

  private func announcingLimit(_ frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
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
