import CNghttp2

/// nghttp2's calls, turned into calls of the client session and stream that its pointers name.
enum HTTP2ClientCallbacks {
  static func install(_ callbacks: OpaquePointer) {
    nghttp2_session_callbacks_set_on_header_callback(callbacks) {
      handle, frame, name, nameCount, value, count, _, _ in
      guard let frame, let stream = HTTP2ClientStream.of(handle, frame.pointee.hd.stream_id) else { return 0 }
      _ = stream.message.append(
        name: UnsafeRawBufferPointer(start: name, count: nameCount),
        value: UnsafeRawBufferPointer(start: value, count: count))
      return 0
    }
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
      handle, _, streamID, data, count, _ in
      HTTP2ClientStream.of(handle, streamID)?.message.appendBody(
        UnsafeRawBufferPointer(start: data, count: count))
      return 0
    }
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { handle, frame, user in
      guard let frame else { return 0 }
      if frame.pointee.hd.type == UInt8(NGHTTP2_HEADERS.rawValue) {
        HTTP2ClientStream.of(handle, frame.pointee.hd.stream_id)?.headersEnded()
      } else {
        HTTP2ClientSession.of(user)?.frameEnded(frame)
      }
      return 0
    }
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { handle, streamID, code, user in
      guard let stream = HTTP2ClientStream.of(handle, streamID) else { return 0 }
      HTTP2ClientSession.of(user)?.streamClosed(stream, code)
      return 0
    }
  }

  /// Lends a request's body to nghttp2. `source.ptr` is a live stream, which the session keeps until its event was taken.
  static let readBody: nghttp2_data_source_read_callback = { _, _, buffer, count, flags, source, _ in
    guard let source, let pointer = source.pointee.ptr, let flags else { return 0 }
    let stream = Unmanaged<HTTP2ClientStream>.fromOpaque(pointer).takeUnretainedValue()
    let part = stream.body.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: count))
    if part.isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return part.count
  }
}

extension HTTP2ClientSession {
  /// The session behind nghttp2's user data; see the type's note on who owns it.
  fileprivate static func of(_ user: UnsafeMutableRawPointer?) -> HTTP2ClientSession? {
    user.map { Unmanaged<HTTP2ClientSession>.fromOpaque($0).takeUnretainedValue() }
  }
}

extension HTTP2ClientStream {
  /// The stream behind nghttp2's stream user data; its session's pool owns it.
  fileprivate static func of(_ handle: OpaquePointer?, _ streamID: Int32) -> HTTP2ClientStream? {
    nghttp2_session_get_stream_user_data(handle, streamID).map {
      Unmanaged<HTTP2ClientStream>.fromOpaque($0).takeUnretainedValue()
    }
  }
}
