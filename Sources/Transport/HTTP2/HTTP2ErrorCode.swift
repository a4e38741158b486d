/// A GOAWAY frame.
public struct HTTP2GoAway: Sendable, Equatable {
  public var lastStreamID: Int32
  public var errorCode: HTTP2ErrorCode
  public var debugData: [UInt8]

  public init(lastStreamID: Int32, errorCode: HTTP2ErrorCode, debugData: [UInt8]) {
    (self.lastStreamID, self.errorCode, self.debugData) = (lastStreamID, errorCode, debugData)
  }
}

/// What became of bytes given to a session.
public enum HTTP2ReceiveStatus: Equatable, Sendable {
  /// Taken. Output may wait, and `isFinished` says whether the connection is to be closed after it.
  case taken
  /// The connection did not begin with HTTP/2's preface; these are its first bytes. Write an answer that
  /// the peer can read, and close.
  case notHTTP2(firstBytes: [UInt8])
  /// The peer broke the protocol beyond repair. Send what output there is, and close.
  case failed(reason: String)
}

/// A frame that the peer should not have sent, for whoever looks at a connection.
public struct HTTP2Violation: Sendable, Equatable {
  public var streamID: Int32
  public var frameType: UInt8
  public var sentence: String
}

/// Why a stream or connection ended (RFC 9113 section 7).
public struct HTTP2ErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt32
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  public static let noError = HTTP2ErrorCode(rawValue: 0)
  public static let protocolError = HTTP2ErrorCode(rawValue: 1)
  public static let streamClosed = HTTP2ErrorCode(rawValue: 5)
  public static let refusedStream = HTTP2ErrorCode(rawValue: 7)
  public static let cancel = HTTP2ErrorCode(rawValue: 8)
  public static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 11)

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
