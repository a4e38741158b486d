import CNghttp2
import PushModel

/// How a server session behaves, with the limits on what a client may cost that are not nghttp2's own: 1000 acknowledgements of PING
/// and SETTINGS that wait for a client that does not read, 32 entries in a SETTINGS frame, and 8 CONTINUATION frames
/// (CVE-2024-28182).
public struct HTTP2Options: Sendable {
  /// Streams that a client may have open (`Documentation/provider-api.md#settings`, `#open-questions`).
  public static let usualStreams = 1000

  /// Streams that a client may have open, as is announced at the start.
  public var streams: Int
  /// The highest stream limit that this session may ever announce. Before the client has acknowledged a limit, it may
  /// open this many streams.
  public var streamCeiling = usualStreams
  /// Keep silent until the client has sent the HTTP/2 preface: for connections that agreed on nothing by ALPN, so that
  /// whoever speaks something else can be answered in plain text.
  public var waitsForPreface = false

  /// RST_STREAM frames that a client may send in a burst, and how many more a second ("rapid reset", CVE-2023-44487).
  /// nghttp2's defaults.
  public var resetBurst: UInt64 = 1000
  public var resetsPerSecond: UInt64 = 33
  /// Frames that a client may send without a request coming of them, how many more each second, and how many more each
  /// request. A payload of 4 KiB in frames of 64 bytes is paid for.
  public var idleFrames = 20_000
  public var idleFramesPerSecond = 1000
  public var idleFramesPerRequest = 64

  /// From the beginning of a header block to its end, in nanoseconds. It is at most a few segments long.
  public var headerTime: Int64 = 10_000_000_000
  /// From the beginning of a request to its end, in nanoseconds; as long as over HTTP/1.1 (`HTTPLimits.requestTime`).
  public var requestTime: Int64 = 30_000_000_000
  /// For a client to take an answer, in nanoseconds; as long as over HTTP/1.1 (`HTTPLimits.stallTime`).
  public var answerTime: Int64 = 60_000_000_000

  public init(streams: Int = usualStreams) { self.streams = streams }

  /// The entries of a SETTINGS frame in Apple's order, with this stream limit, as seen from Apple since 2017
  /// (`Documentation/provider-api.md#settings`).
  static func settings(streams: Int) -> [nghttp2_settings_entry] {
    let values: [(nghttp2_settings_id, UInt32)] = [
      (NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, 4096),
      (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, UInt32(clamping: streams)),
      (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 65535),
      (NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 16384),
      (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, UInt32(HTTPMessage.fieldListLimit)),
    ]
    return values.map { nghttp2_settings_entry(settings_id: Int32($0.rawValue), value: $1) }
  }
}
