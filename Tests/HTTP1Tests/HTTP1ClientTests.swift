import Foundation
import Platform
import Testing

import Transport

@Suite struct HTTP1ClientTests {
  /// Runs a server on a thread of its own until `/stop` is asked for.
  private func withServer(_ body: (SocketAddress) throws -> Void) throws {
    let ready = DispatchSemaphore(value: 0)
    let port = LockedPort()
    let thread = Thread {
      guard let loop = EventLoop(),
        let server = try? HTTPServer(
          loop: loop, address: SocketAddress(host: "127.0.0.1", port: 0),
          handler: { (exchange: HTTPExchange) in Self.answer(exchange, loop) })
      else {
        ready.signal()
        return
      }
      port.value = server.address.port
      ready.signal()
      loop.run()
      withExtendedLifetime(server) {}
    }
    thread.start()
    ready.wait()
    let address = SocketAddress(host: "127.0.0.1", port: port.value)
    defer { _ = try? HTTP1Client(address, timeout: 1_000_000_000).send("POST", "/stop") }
    try body(address)
  }

  private static func answer(_ exchange: HTTPExchange, _ loop: EventLoop) {
    switch exchange.request.path {
    case "/stop":
      loop.stop()
      exchange.respond(HTTPResponse(text: "bye"))
    case "/stream":
      exchange.startStream(HTTPResponse(text: "one"))
      exchange.send(Array("two".utf8))
    case "/never": break
    case "/reset": exchange.end(by: .reset)
    default:
      let request = exchange.request
      exchange.respond(
        HTTPResponse(status: 201, text: "\(request.method) \(request.path) \(request.body.count)"))
    }
  }

  @Test("Requests with each method get their answers")
  func methods() throws {
    try withServer { address in
      let client = HTTP1Client(address)
      for method in ["GET", "POST", "PUT", "DELETE"] {
        let answer = try client.send(method, "/a", body: method == "PUT" ? [1, 2, 3] : [])
        #expect(answer.status == 201)
        #expect(String(decoding: answer.body, as: UTF8.self) == "\(method) /a \(method == "PUT" ? 3 : 0)")
      }
      let head = try client.send("HEAD", "/a")
      #expect(head.field("content-length") == "9" && head.body.isEmpty)
    }
  }

  @Test("A stream is read until the caller has enough")
  func stream() throws {
    try withServer { address in
      var text = ""
      _ = try HTTP1Client(address).stream("/stream") {
        text += String(decoding: $0, as: UTF8.self)
        return !text.hasSuffix("two")
      }
      #expect(text == "onetwo")
    }
  }

  @Test("An answer that does not come is a timeout")
  func timeout() throws {
    try withServer { address in
      let error = #expect(throws: HTTP1Client.Failure.self) {
        _ = try HTTP1Client(address, timeout: 100_000_000).send("GET", "/never")
      }
      #expect(error?.code == .timeout)
    }
  }

  @Test("A connection that is reset before its answer is told with the system's reason")
  func reset() throws {
    try withServer { address in
      let error = #expect(throws: HTTP1Client.Failure.self) { try HTTP1Client(address).send("GET", "/reset") }
      #expect(error?.code == .disconnected)
      #expect(error?.description == "\(address) broke the connection: \(SocketCalls.sentence(ECONNRESET))")
    }
  }

  @Test("Interim answers are skipped, whatever fields they have, and however they are cut")
  func interim() throws {
    let bytes = Array(
      ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 3\r\n\r\n"
        + "HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok").utf8)
    for chunk in [1, 7, bytes.count] {
      var parser = HTTPResponseParser(limits: HTTPLimits(), isAnswerToHead: false)
      var heads: [Int] = []
      var body: [UInt8] = []
      var ends = 0
      for start in stride(from: 0, to: bytes.count, by: chunk) {
        parser.receive(bytes.span.extracting(start..<min(start + chunk, bytes.count)))
        while let event = try parser.next() {
          switch event {
          case .head(let head):
            heads.append(head.status)
            #expect(head.field("link") == nil)
          case .piece(let piece): body += piece
          case .end: ends += 1
          }
        }
      }
      #expect(heads == [201] && body == Array("ok".utf8) && ends == 1)
    }
  }

  @Test("A status needs no phrase, nor the space before one")
  func noPhrase() throws {
    for line in ["HTTP/1.1 204 No Content", "HTTP/1.1 204 ", "HTTP/1.1 204"] {
      var parser = HTTPResponseParser(limits: HTTPLimits(), isAnswerToHead: false)
      parser.receive(Array("\(line)\r\n\r\n".utf8).span)
      guard case .head(let head) = try parser.next() else {
        Issue.record("expected the head of \(line)")
        continue
      }
      #expect(head.status == 204)
    }
  }

  @Test("A refused connection names host and port")
  func refused() throws {
    let error = #expect(throws: SocketError.self) {
      _ = try HTTP1Client(SocketAddress(host: "127.0.0.1", port: 1)).send("GET", "/")
    }
    #expect(error?.description.hasPrefix("can't connect to 127.0.0.1:1: ") == true)
  }
}

private final class LockedPort: @unchecked Sendable {
  // Written once before the semaphore is signalled, read after.
  var value: UInt16 = 0
}
