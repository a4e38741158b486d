import CNghttp2
import PushModel

extension HTTP2ServerSession {
  /// Answers a request, once. False when its client has gone, and nothing is sent.
  @discardableResult
  public func respond(to request: HTTP2Request, with response: HTTP2Response) -> Bool {
    guard request.phase == .delivered else { return false }
    request.phase = .answered
    guard !request.isCancelled else {
      recycleIfDone(request)
      return false
    }
    fieldList.removeAll()
    addFields(of: response, for: request)
    if response.fields.isEmpty {
      submit(request, body: response.body)
    } else {
      submit(request, text: HTTP2TextFields(response.fields), body: response.body)
    }
    return true
  }

  /// Ends a request without an answer.
  public func reset(_ request: HTTP2Request, _ code: HTTP2ErrorCode) {
    guard request.phase == .delivered else { return }
    request.phase = .answered
    if !request.isCancelled { submitReset(request.streamID, code) }
    recycleIfDone(request)
  }

  /// Lets go of a request for which nothing will be sent, ever.
  public func drop(_ request: HTTP2Request) {
    guard request.phase == .delivered else { return }
    request.phase = .answered
    recycleIfDone(request)
  }

  /// What Netty says when the header list is longer than announced; the rest of the stream is of no use.
  func refuseTooLarge(_ request: HTTP2Request) {
    request.phase = .refused
    fieldList.removeAll()
    fieldList.add(.status, "431")
    submit(request, body: [])
    streamsToReset.append(request.streamID)
  }

  func submitReset(_ streamID: Int32, _ code: HTTP2ErrorCode) {
    nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), streamID, code.rawValue)
  }

  private func addFields(of response: HTTP2Response, for request: HTTP2Request) {
    if response.status == 200 {
      fieldList.add(.status, "200")
    } else {
      fieldList.add(.status, request.answer.status(response.status), isIndexed: true)
    }
    if !response.body.isEmpty { fieldList.add(.contentType, "application/json") }
    if let id = response.messageID {
      fieldList.add(response.idField, request.answer.id(id), isIndexed: false)
    }
    if let id = response.uniqueID {
      fieldList.add(.apnsUniqueId, request.answer.uniqueID(id), isIndexed: false)
    }
    if let explanation = response.explanation {
      fieldList.add(
        name: HTTP2Response.explanationField, request.answer.explanation(explanation), isIndexed: true)
    }
  }

  /// nghttp2 copies the fields while they are lent.
  private func submit(_ request: HTTP2Request, text: HTTP2TextFields, body: [UInt8]) {
    text.withFields { fields in
      for field in fields { fieldList.addCopied(name: field.name, value: field.value) }
      submit(request, body: body)
    }
  }

  private func submit(_ request: HTTP2Request, body: [UInt8]) {
    guard !body.isEmpty, !request.isHead else {
      nghttp2_submit_response(handle, request.streamID, fieldList.entries, fieldList.count, nil)
      return
    }
    request.answer.setBody(body)
    count(request)
    var provider = nghttp2_data_provider()
    provider.source.ptr = Unmanaged.passUnretained(request).toOpaque()
    provider.read_callback = HTTP2ServerCallbacks.readAnswer
    nghttp2_submit_response(handle, request.streamID, fieldList.entries, fieldList.count, &provider)
  }
}

extension HTTP2Request {
  /// Answers to HEAD have no body.
  fileprivate var isHead: Bool { message[.method]?.elementsEqual("HEAD".utf8) ?? false }
}
