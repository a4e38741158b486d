import CNghttp2

/// What a server announces in its SETTINGS frame (`Documentation/provider-api.md#settings`).
public struct HTTP2Settings: Sendable, Equatable {
  /// Streams that a client may have open (`Documentation/provider-api.md#settings`, `#open-questions`).
  public static let streams = 1000

  public var headerTableSize: UInt32 = 4096
  public var maximumConcurrentStreams: Int
  public var initialWindowSize: UInt32 = 65535
  public var maximumFrameSize: UInt32 = 16384
  public var maximumHeaderListSize: UInt32 = 8000

  public init(maximumConcurrentStreams: Int) { self.maximumConcurrentStreams = maximumConcurrentStreams }

  /// As seen from Apple since 2017.
  public static func apple(streams: Int = Self.streams) -> HTTP2Settings {
    HTTP2Settings(maximumConcurrentStreams: streams)
  }

  /// The entries in Apple's order, with another stream limit.
  func entries(streams: Int) -> [nghttp2_settings_entry] {
    let values: [(nghttp2_settings_id, UInt32)] = [
      (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, headerTableSize),
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: streams)),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, initialWindowSize),
      (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, maximumFrameSize),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, maximumHeaderListSize),
    ]
    return values.map { nghttp2_settings_entry(settings_id: Int32($0.rawValue), value: $1) }
  }
}
