import Basics
import CNghttp2

/// nghttp2's calls, turned into calls of the session that its user data points to. What it lends becomes spans here.
enum HTTP2Callbacks {
  static func install(_ callbacks: OpaquePointer?) {
    unsafe installContents(callbacks)
    unsafe installEnds(callbacks)
  }

  /// What a message brings, piece by piece.
  private static func installContents(_ callbacks: OpaquePointer?) {
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
      guard let frame = unsafe frame?.pointee.headers else { return 0 }
      let isRequest = unsafe frame.cat == NGHTTP2_HCAT_REQUEST
      unsafe HTTP2Session.lend(user) {
        unsafe $0.headersBegan(streamID: frame.hd.stream_id, isRequest: isRequest)
      }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, _, name, nameCount, value, count, _, user in
      let name = unsafe UnsafeRawBufferPointer(start: name, count: nameCount)
      let value = unsafe UnsafeRawBufferPointer(start: value, count: count)
      unsafe HTTP2Session.lend(user) { unsafe $0.fieldCame(name: name.span, value: value.span) }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
      _, _, streamID, data, count, user in
      let bytes = unsafe UnsafeRawBufferPointer(start: data, count: count)
      unsafe HTTP2Session.lend(user) { unsafe $0.dataCame(streamID: streamID, bytes.span) }
      return 0
    }
  }

  /// Frames that are whole or wrong, and streams that are over.
  private static func installEnds(_ callbacks: OpaquePointer?) {
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      guard let frame = unsafe frame else { return 0 }
      if unsafe frame.pointee.hd.type == UInt8(NGHTTP2_GOAWAY.rawValue) {
        let goAway = unsafe frame.pointee.goaway
        unsafe HTTP2Session.lend(user) { unsafe $0.goAwayCame(HTTP2GoAway(goAway)) }
      } else {
        unsafe HTTP2Session.lend(user) { unsafe $0.frameEnded(frame.pointee.hd) }
      }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, error, user in
      let sentence = unsafe String(cString: nghttp2_strerror(error))
      if let head = unsafe frame?.pointee.hd {
        unsafe HTTP2Session.lend(user) { $0.frameWasInvalid(head, sentence) }
      }
      return 0
    }
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, streamID, code, user in
      unsafe HTTP2Session.lend(user) { $0.streamClosed(streamID, HTTP2ErrorCode(rawValue: code)) }
      return 0
    }
  }

  /// Asks a stream for its body, piece by piece, and copies that to where nghttp2 has room.
  static var bodyProvider: nghttp2_data_provider {
    var provider = unsafe nghttp2_data_provider()
    unsafe provider.read_callback = { _, streamID, room, size, flags, _, user in
      var count = 0
      unsafe HTTP2Session.lend(user) { session in
        let stream = session.slot(of: streamID).flatMap { session.stream($0) }
        let piece = stream?.nextPiece(atMost: size) ?? []
        if stream?.isSent ?? true { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
        unsafe piece.withUnsafeBytes {
          unsafe UnsafeMutableRawBufferPointer(start: room, count: size).copyMemory(from: $0)
        }
        count = piece.count
      }
      return count
    }
    return unsafe provider
  }
}

extension HTTP2Session {
  /// Lends the session behind nghttp2's user data, which has no reference to it: whoever called nghttp2 has one.
  @inline(__always)
  fileprivate static func lend(_ user: UnsafeMutableRawPointer?, _ body: (HTTP2Session) -> Void) {
    guard let user = unsafe user else { return }
    unsafe body(Unmanaged<HTTP2Session>.fromOpaque(user).takeUnretainedValue())
  }
}

extension HTTP2GoAway {
  fileprivate init(_ frame: nghttp2_goaway) {
    let debugData = unsafe UnsafeRawBufferPointer(start: frame.opaque_data, count: frame.opaque_data_len)
    unsafe self.init(
      lastStreamID: frame.last_stream_id, errorCode: HTTP2ErrorCode(rawValue: frame.error_code),
      debugData: [UInt8](debugData.span))
  }
}
