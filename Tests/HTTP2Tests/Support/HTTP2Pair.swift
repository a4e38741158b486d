import Basics
import Testing

import Transport

/// A client and a server session that exchange bytes in memory.
final class HTTP2Pair {
  let server: HTTP2ServerSession
  let client: HTTP2ClientSession
  /// All that the server sent.
  private(set) var fromServer: [UInt8] = []
  /// Chunks in which the client's bytes reach the server; whole frames if nil.
  var chunk: Int?

  init(_ options: HTTP2Options = HTTP2Options()) throws {
    server = try #require(HTTP2ServerSession(options: options))
    client = try #require(HTTP2ClientSession())
  }

  let head = HTTP2RequestHead(
    authority: "api.sandbox.push.apple.com",
    fields: [
      ("apns-topic", "com.example.app"), ("apns-push-type", "alert"), ("apns-priority", "10"),
      ("apns-expiration", "0"), ("apns-id", "11111111-2222-4333-8444-555555555555"),
    ])
  static let path = "/3/device/000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)

  func submit(path: String = HTTP2Pair.path, body: [UInt8] = HTTP2Pair.payload, context: Int = 0) {
    client.submit(head, path: path, body: body, context: context)
  }

  /// The client gets bytes that no server of ours sends; answers what it makes of them.
  func clientReceives(_ bytes: [UInt8]) -> HTTP2ReceiveStatus { client.receive(bytes.span) }

  /// Carries bytes both ways until nothing moves, and answers each request with `answer`.
  func exchange(_ answer: ((HTTP2Request) -> HTTP2Response?)? = nil) {
    var isMoving = true
    while isMoving {
      isMoving = clientToServer()
      while let request = server.nextRequest() {
        if let response = answer?(request) { server.respond(to: request, with: response) }
      }
      if serverToClient() { isMoving = true }
    }
  }

  @discardableResult
  func clientToServer() -> Bool {
    var bytes: [UInt8] = []
    client.drainOutput { bytes.append($0) }
    let step = max(1, chunk ?? bytes.count)
    for start in stride(from: 0, to: bytes.count, by: step) {
      _ = server.receive(Array(bytes[start..<min(start + step, bytes.count)]))
    }
    return !bytes.isEmpty
  }

  @discardableResult
  func serverToClient() -> Bool {
    var bytes: [UInt8] = []
    server.drainOutput { bytes.append($0) }
    fromServer += bytes
    _ = client.receive(bytes.span)
    return !bytes.isEmpty
  }

  /// The outcome of every exchange that has ended, by the number given to `submit`.
  func outcomes() -> [Int: Outcome] {
    var outcomes: [Int: Outcome] = [:]
    while let event = client.nextEvent() {
      switch event {
      case .answered(let stream):
        outcomes[stream.context] = .answered(
          stream.status, stream.message.fields.map { "\($0.name): \($0.value)" }, stream.body)
      case .reset(let stream, let code): outcomes[stream.context] = .reset(code)
      }
    }
    return outcomes
  }

  enum Outcome: Equatable {
    case answered(Int, [String], [UInt8])
    case reset(HTTP2ErrorCode)

    var status: Int? {
      if case .answered(let status, _, _) = self { return status }
      return nil
    }
  }
}

extension HTTP2ServerSession {
  func receive(_ bytes: [UInt8]) -> HTTP2ReceiveStatus { receive(bytes.span) }

  /// All output there is.
  func output() -> [UInt8] {
    var bytes: [UInt8] = []
    drainOutput { bytes.append($0) }
    return bytes
  }

  /// All requests that are complete.
  func takeRequests() -> [HTTP2Request] {
    var requests: [HTTP2Request] = []
    while let request = nextRequest() { requests.append(request) }
    return requests
  }
}
