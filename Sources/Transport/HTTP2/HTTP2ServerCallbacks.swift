import CNghttp2

/// nghttp2's calls, turned into calls of the session that its user data points to.
enum HTTP2ServerCallbacks {
  static func install(_ callbacks: OpaquePointer) {
    installContents(callbacks)
    installEnds(callbacks)
  }

  /// What a request brings, piece by piece.
  private static func installContents(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, user in
      guard let frame else { return 0 }
      let isRequest = frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST
      let streamID = frame.pointee.hd.stream_id
      HTTP2ServerSession.withSession(user) { $0.headersBegan(streamID: streamID, isRequest: isRequest) }
      return 0
    }
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      _, _, name, nameCount, value, count, _, user in
      let name = UnsafeRawBufferPointer(start: name, count: nameCount)
      let value = UnsafeRawBufferPointer(start: value, count: count)
      HTTP2ServerSession.withSession(user) { $0.fieldCame(name: name, value: value) }
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
      _, _, streamID, data, count, user in
      let bytes = UnsafeRawBufferPointer(start: data, count: count)
      HTTP2ServerSession.withSession(user) { $0.dataCame(streamID: streamID, bytes) }
      return 0
    }
  }

  /// Frames that are whole or wrong, and streams that are over.
  private static func installEnds(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, user in
      if let frame { HTTP2ServerSession.withSession(user) { $0.frameEnded(frame) } }
      return 0
    }
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, error, user in
      if let frame { HTTP2ServerSession.withSession(user) { $0.frameWasInvalid(frame.pointee.hd, error) } }
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, streamID, _, user in
      HTTP2ServerSession.withSession(user) { $0.streamClosed(streamID) }
      return 0
    }
  }
}

extension HTTP2ServerSession {
  /// Lends the session behind nghttp2's user data. Not retained: whoever called nghttp2 holds it (see the type's note on
  /// who owns it), and these calls come many times a request.
  @inline(__always)
  fileprivate static func withSession(
    _ user: UnsafeMutableRawPointer?, _ body: (HTTP2ServerSession) -> Void
  ) {
    guard let user else { return }
    Unmanaged<HTTP2ServerSession>.fromOpaque(user)._withUnsafeGuaranteedRef(body)
  }
}
