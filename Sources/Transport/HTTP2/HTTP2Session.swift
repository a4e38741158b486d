import Basics
import CNghttp2

/// One session of nghttp2, whichever side it is, without a connection: bytes in → calls of what the two sides override; what they
/// submit → frames.
///
/// It owns nghttp2's session, and deletes that as it goes. nghttp2 has its address, retains nothing, and follows it only within calls
/// that are made here. Of streams it is told numbers, and everything that it is handed it copies at once.
@safe public class HTTP2Session {
  private let handle: OpaquePointer
  private let memory = HTTP2Memory()
  /// Bytes are being taken, or a frame is lent.
  private var isBusy = false

  /// A session with nothing queued, a client's without options; nil only when memory is exhausted.
  init?(_ options: HTTP2Options?) {
    guard let handle = unsafe HTTP2Library.newSession(options, memory) else { return nil }
    unsafe self.handle = unsafe handle
    unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { unsafe nghttp2_session_del(handle) }

  // MARK: For both sides to override

  /// A header block begins.
  func headersBegan(streamID: Int32, isRequest: Bool) {}
  /// One field of that block, lent for the call.
  func fieldCame(name: Span<UInt8>, value: Span<UInt8>) {}
  /// A piece of a body, lent for the call.
  func dataCame(streamID: Int32, _ bytes: Span<UInt8>) {}
  /// A frame is whole; GOAWAY is told of apart.
  func frameEnded(_ head: nghttp2_frame_hd) {}
  func goAwayCame(_ goAway: HTTP2GoAway) {}
  func frameWasInvalid(_ head: nghttp2_frame_hd, _ sentence: String) {}
  /// A stream is over, and its slot known for the last time.
  func streamClosed(_ streamID: Int32, _ code: HTTP2ErrorCode) {}
  /// The stream in a slot, whose body is to leave.
  func stream(_ slot: Int) -> HTTP2Stream? { nil }

  // MARK: Bytes

  /// Takes bytes of the connection; answers why the session can't go on, if it can't.
  func feed(_ bytes: Span<UInt8>) -> String? {
    precondition(!isBusy, "bytes within a call of the library")
    isBusy = true
    defer { isBusy = false }
    let result = unsafe bytes.withUnsafeBufferPointer {
      unsafe nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count)
    }
    return result < 0 ? HTTP2Library.sentence(Int32(truncatingIfNeeded: result)) : nil
  }

  /// Lends the next frame that nghttp2 has to send for the call, which may not ask for another; answers its size, nil if there is none.
  func lendFrame(_ body: (Span<UInt8>) -> Void) -> Int? {
    precondition(!isBusy, "a frame within a call of the library")
    isBusy = true
    defer { isBusy = false }
    var bytes: UnsafePointer<UInt8>?
    let count = unsafe nghttp2_session_mem_send(handle, &bytes)
    guard count > 0 else { return nil }
    unsafe body(UnsafeRawBufferPointer(start: bytes, count: count).span)
    return count
  }

  var wantsInput: Bool { unsafe nghttp2_session_want_read(handle) != 0 }
  var wantsOutput: Bool { unsafe nghttp2_session_want_write(handle) != 0 }
  /// What nghttp2 holds for this session, in bytes.
  var libraryBytes: Int { memory.bytes }

  // MARK: Streams

  /// How many streams the peer allows, as far as it has said.
  public var peerMaximumConcurrentStreams: Int {
    unsafe Int(nghttp2_session_get_remote_settings(handle, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
  }

  /// The slot of a stream that nghttp2 knows. It keeps the number in the place of an address, which is never followed.
  @inline(__always)
  func slot(of streamID: Int32) -> Int? {
    let mark = unsafe nghttp2_session_get_stream_user_data(handle, streamID)
    return unsafe mark == nil ? nil : Int(bitPattern: mark) - 1
  }

  func setSlot(_ slot: Int, of streamID: Int32) {
    unsafe nghttp2_session_set_stream_user_data(
      handle, streamID, UnsafeMutableRawPointer(bitPattern: slot + 1))
  }

  // MARK: Frames to be sent

  func submit(settings: [nghttp2_settings_entry]) {
    unsafe nghttp2_submit_settings(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), settings, settings.count)
  }

  func submitGoAway(lastStreamID: Int32, _ code: HTTP2ErrorCode, debugData: [UInt8]) {
    let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
    unsafe nghttp2_submit_goaway(handle, flags, lastStreamID, code.rawValue, debugData, debugData.count)
  }

  func submitReset(_ streamID: Int32, _ code: HTTP2ErrorCode) {
    unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, code.rawValue)
  }

  /// An answer; its body is asked of its stream.
  func submitAnswer(_ streamID: Int32, _ fields: HTTP2Fields, hasBody: Bool) {
    _ = unsafe fields.withEntries { entries in
      unsafe withUnsafePointer(to: HTTP2Callbacks.bodyProvider) {
        unsafe nghttp2_submit_response(
          handle, streamID, entries.baseAddress, entries.count, hasBody ? $0 : nil)
      }
    }
  }

  /// A request, whose stream is in this slot; its body is asked of that. Answers the stream's number; nil if it can't be sent.
  func submitRequest(_ fields: HTTP2Fields, hasBody: Bool, slot: Int) -> Int32? {
    let mark = unsafe UnsafeMutableRawPointer(bitPattern: slot + 1)
    let streamID = unsafe fields.withEntries { entries in
      unsafe withUnsafePointer(to: HTTP2Callbacks.bodyProvider) {
        unsafe nghttp2_submit_request(
          handle, nil, entries.baseAddress, entries.count, hasBody ? $0 : nil, mark)
      }
    }
    return streamID > 0 ? streamID : nil
  }
}

/// What sessions are made of, and nghttp2's words.
private enum HTTP2Library {
  static func newSession(_ options: HTTP2Options?, _ memory: HTTP2Memory) -> OpaquePointer? {
    var (session, callbacks, library): (OpaquePointer?, OpaquePointer?, OpaquePointer?)
    defer {
      unsafe nghttp2_session_callbacks_del(callbacks)
      unsafe nghttp2_option_del(library)
    }
    guard unsafe nghttp2_session_callbacks_new(&callbacks) == 0, unsafe nghttp2_option_new(&library) == 0
    else {
      return nil
    }
    unsafe HTTP2Callbacks.install(callbacks)
    // Priorities are ignored (`Documentation/provider-api.md#connection`), so closed streams need not be kept in their tree.
    unsafe nghttp2_option_set_no_closed_streams(library, 1)
    unsafe memory.withFunctions { memory in
      guard let options else {
        unsafe nghttp2_session_client_new3(&session, callbacks, nil, library, memory)
        return
      }
      unsafe nghttp2_option_set_stream_reset_rate_limit(library, options.resetBurst, options.resetsPerSecond)
      // A value with a blank around it is for the checks to judge, not to be dropped here.
      unsafe nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(library, 1)
      unsafe nghttp2_session_server_new3(&session, callbacks, nil, library, memory)
    }
    return unsafe session
  }

  /// nghttp2's words for one of its error numbers.
  static func sentence(_ error: Int32) -> String { unsafe String(cString: nghttp2_strerror(error)) }
}
