import CNghttp2

/// What nghttp2 tells about arriving frames.
extension HTTP2ServerSession {
  func headersBegan(streamID: Int32, isRequest: Bool) {
    headersSeenAt = 0
    // Trailers say nothing that APNs reads.
    guard isRequest else {
      current = nil
      return
    }
    let request = requests.checkOut(streamID: streamID)
    nghttp2_session_set_stream_user_data(handle, streamID, Unmanaged.passUnretained(request).toOpaque())
    current = request
    // The GOAWAY tells its client; nghttp2 drops it as that leaves.
    guard streamID <= lastPromisedStreamID else {
      request.phase = .refused
      return
    }
    switch streamLimit.verdict(open: openStreams) {
    case .accepted: lastTakenStreamID = streamID
    case .refused: refuse(request)
    case .violated:
      refuse(request)
      goAway(.refusedStream, debugData: Array(Self.streamsViolatedText.utf8))
    }
  }

  func fieldCame(name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer) {
    guard let current, current.phase == .receiving else { return charge(name, value) }
    guard !current.message.append(name: name, value: value) else { return }
    if current.isTooLarge { charge(name, value) }
    current.isTooLarge = true
  }

  /// One byte can stand for a field of four thousand (RFC 7541 7.3), and nghttp2 looks at each of its bytes all the same.
  private func charge(_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) {
    watch.allowance.charge(1 + (name.count + value.count) / HTTP2FrameAllowance.fieldBytes)
  }

  func dataCame(streamID: Int32, _ bytes: UnsafeRawBufferPointer) {
    guard let request = receiving(streamID) else { return }
    request.message.appendBody(bytes)
  }

  func frameEnded(_ frame: UnsafePointer<nghttp2_frame>) {
    let header = frame.pointee.hd
    switch nghttp2_frame_type(UInt32(header.type)) {
    case NGHTTP2_HEADERS, NGHTTP2_DATA: messageFrameEnded(header)
    case NGHTTP2_SETTINGS: settingsCame(header)
    case NGHTTP2_GOAWAY: peerGoAway = HTTP2Library.goAway(frame.pointee.goaway)
    default: break
    }
  }

  func frameWasInvalid(_ header: nghttp2_frame_hd, _ error: Int32) {
    lastViolation = HTTP2Violation(
      streamID: header.stream_id, frameType: header.type, sentence: HTTP2Library.sentence(error))
  }

  /// The stream is gone; nghttp2 forgets its pointer to the request.
  func streamClosed(_ request: HTTP2Request) {
    request.isCancelled = request.phase == .delivered
    request.isClosed = true
    if current === request { current = nil }
    recycleIfDone(request)
  }

  func recycleIfDone(_ request: HTTP2Request) {
    guard request.isClosed, request.phase != .delivered else { return }
    if requests.checkIn(request) { count(request) } else { forget(request) }
  }

  /// Brings what is counted for a request up to date.
  @inline(__always)
  func count(_ request: HTTP2Request) {
    let bytes = request.bufferBytes
    bufferBytes += bytes - request.countedBytes
    request.countedBytes = bytes
  }

  private func forget(_ request: HTTP2Request) {
    bufferBytes -= request.countedBytes
    request.countedBytes = 0
  }

  private func messageFrameEnded(_ header: nghttp2_frame_hd) {
    guard let request = receiving(header.stream_id) else { return }
    count(request)
    if request.isTooLarge { return refuseTooLarge(request) }
    guard Int32(header.flags) & Int32(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 else { return }
    request.phase = .delivered
    current = nil
    arrivals.append(request)
    watch.allowance.requestCame()
  }

  private func settingsCame(_ header: nghttp2_frame_hd) {
    guard Int32(header.flags) & Int32(NGHTTP2_FLAG_ACK.rawValue) != 0 else { return }
    if let next = streamLimit.acknowledge() { submitSettings(limit: next) }
  }

  private func refuse(_ request: HTTP2Request) {
    request.phase = .refused
    submitReset(request.streamID, .refusedStream)
  }

  /// The request that still takes bytes of this stream. Most often it is the one whose frames came last.
  private func receiving(_ streamID: Int32) -> HTTP2Request? {
    if let current, current.streamID == streamID { return current.phase == .receiving ? current : nil }
    guard let pointer = nghttp2_session_get_stream_user_data(handle, streamID) else { return nil }
    let request = Unmanaged<HTTP2Request>.fromOpaque(pointer).takeUnretainedValue()
    guard request.phase == .receiving else { return nil }
    current = request
    return request
  }
}
