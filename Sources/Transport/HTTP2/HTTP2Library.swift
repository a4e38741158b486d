import CNghttp2

/// What the server and the client session share of nghttp2.
enum HTTP2Library {
  /// Lends a table of callbacks, filled by `install`; nghttp2 copies it into the session.
  static func withCallbacks(_ install: (OpaquePointer) -> Void, _ body: (OpaquePointer) -> Void) {
    var callbacks: OpaquePointer?
    guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return }
    install(callbacks)
    body(callbacks)
    nghttp2_session_callbacks_del(callbacks)
  }

  /// Lends a server's options.
  static func withOptions(_ options: HTTP2Options, _ body: (OpaquePointer) -> Void) {
    withOptions { library in
      nghttp2_option_set_stream_reset_rate_limit(library, options.resetBurst, options.resetsPerSecond)
      // A value with a blank around it is for the checks to judge, not to be dropped here.
      nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(library, 1)
      body(library)
    }
  }

  /// Lends options that hold for both sides.
  static func withOptions(_ body: (OpaquePointer) -> Void) {
    var options: OpaquePointer?
    guard nghttp2_option_new(&options) == 0, let options else { return }
    // Priorities are ignored (`Documentation/provider-api.md#connection`), so closed streams need not be kept in their
    // tree.
    nghttp2_option_set_no_closed_streams(options, 1)
    body(options)
    nghttp2_option_del(options)
  }

  /// nghttp2's words for one of its error numbers.
  static func sentence(_ error: Int32) -> String { String(cString: nghttp2_strerror(error)) }

  /// Gives a session bytes of its connection; answers why it can't go on, if it can't.
  static func feed(_ bytes: UnsafeRawBufferPointer, to session: OpaquePointer) -> String? {
    let base = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let result = nghttp2_session_mem_recv(session, base, bytes.count)
    return result < 0 ? sentence(Int32(truncatingIfNeeded: result)) : nil
  }

  /// Queues a GOAWAY.
  static func submitGoAway(
    _ session: OpaquePointer, lastStreamID: Int32, _ code: HTTP2ErrorCode, debugData: [UInt8]
  ) {
    nghttp2_submit_goaway(
      session, UInt8(NGHTTP2_FLAG_NONE.rawValue), lastStreamID, code.rawValue, debugData, debugData.count)
  }

  static func goAway(_ frame: nghttp2_goaway) -> HTTP2GoAway {
    let debugData = UnsafeBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
    return HTTP2GoAway(
      lastStreamID: frame.last_stream_id, errorCode: HTTP2ErrorCode(rawValue: frame.error_code),
      debugData: Array(debugData))
  }
}

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
