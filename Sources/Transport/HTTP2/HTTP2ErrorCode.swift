/// Why a stream or connection ended (RFC 9113 section 7).
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let noError = HTTP2ErrorCode(rawValue: 0)
  public static let protocolError = HTTP2ErrorCode(rawValue: 1)
  public static let internalError = HTTP2ErrorCode(rawValue: 2)
  public static let flowControlError = HTTP2ErrorCode(rawValue: 3)
  public static let settingsTimeout = HTTP2ErrorCode(rawValue: 4)
  public static let streamClosed = HTTP2ErrorCode(rawValue: 5)
  public static let frameSizeError = HTTP2ErrorCode(rawValue: 6)
  public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
  public static let cancel = HTTP2ErrorCode(rawValue: 8)
  public static let compressionError = HTTP2ErrorCode(rawValue: 9)
  public static let connectError = HTTP2ErrorCode(rawValue: 10)
  public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)
  public static let inadequateSecurity = HTTP2ErrorCode(rawValue: 12)
  public static let http11Required = HTTP2ErrorCode(rawValue: 13)

  private static let names = [
    "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
    "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
  ]

  /// The name of the RFC and the number: `REFUSED_STREAM (7)`.
  public var description: String {
    Self.names.indices.contains(Int(rawValue))
      ? "\(Self.names[Int(rawValue)]) (\(rawValue))" : "code \(rawValue)"
  }
}
