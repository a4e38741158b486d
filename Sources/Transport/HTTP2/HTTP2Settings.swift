import CNghttp2

/// What a server announces in its SETTINGS frame (`Documentation/provider-api.md#settings`).
public struct HTTP2Settings: Sendable, Equatable {
  /// Streams that a client may have open before it has shown a valid provider token
  /// (`Documentation/provider-api.md#settings`).
  public static let streamsBeforeToken = 1
  /// Streams that a client may have open otherwise (`Documentation/provider-api.md#settings`, `#open-questions`).
  public static let streams = 1000
  /// Streams that Apple allowed in 2016 (`Documentation/provider-api.md#settings`).
  public static let streamsIn2016 = 500

  public var headerTableSize: UInt32 = 4096
  public var maximumConcurrentStreams: Int
  /// Absent in what Apple sent in 2016; the protocol's default is the same number.
  public var initialWindowSize: UInt32? = 65535
  public var maximumFrameSize: UInt32 = 16384
  public var maximumHeaderListSize: UInt32 = 8000

  public init(maximumConcurrentStreams: Int) { self.maximumConcurrentStreams = maximumConcurrentStreams }

  /// As seen from Apple since 2017.
  public static func apple(streams: Int = Self.streams) -> HTTP2Settings {
    HTTP2Settings(maximumConcurrentStreams: streams)
  }

  /// As seen from Apple in 2016.
  public static var apple2016: HTTP2Settings {
    var settings = HTTP2Settings(maximumConcurrentStreams: streamsIn2016)
    settings.initialWindowSize = nil
    return settings
  }

  /// The entries in Apple's order, with another stream limit.
  func entries(streams: Int) -> [nghttp2_settings_entry] {
    let values: [(nghttp2_settings_id, UInt32?)] = [
      (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, headerTableSize),
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: streams)),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, initialWindowSize),
      (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, maximumFrameSize),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, maximumHeaderListSize),
    ]
    return values.compactMap { id, value in
      value.map { nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: $0) }
    }
  }
}
