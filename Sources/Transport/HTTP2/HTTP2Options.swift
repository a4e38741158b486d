/// How a server session behaves, with every limit on what a client may cost.
public struct HTTP2Options: Sendable {
  /// What is announced at the start.
  public var settings: HTTP2Settings
  /// The highest stream limit that this session may ever announce. Before the client has acknowledged a limit, it may
  /// open this many streams.
  public var streamCeiling = HTTP2Settings.streams
  /// Keep silent until the client has sent the HTTP/2 preface: for connections that agreed on nothing by ALPN, so that
  /// whoever speaks something else can be answered in plain text.
  public var waitsForPreface = false

  /// RST_STREAM frames that a client may send in a burst, and how many more a second ("rapid reset", CVE-2023-44487).
  /// nghttp2's defaults.
  public var resetBurst: UInt64 = 1000
  public var resetsPerSecond: UInt64 = 33
  /// Acknowledgements of PING and SETTINGS that may wait for a client that does not read. nghttp2's default.
  public var maximumWaitingAcknowledgements = 1000
  /// Entries in one SETTINGS frame. nghttp2's default.
  public var maximumSettingsEntries = 32
  /// CONTINUATION frames after one HEADERS frame (CVE-2024-28182). nghttp2's default.
  public var maximumContinuations = 8
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

  public init(settings: HTTP2Settings = .apple()) { self.settings = settings }
}
