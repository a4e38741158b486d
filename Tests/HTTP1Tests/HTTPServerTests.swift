import Basics
import Platform
import Testing

@testable import Transport

@Suite struct HTTPServerTests {
  /// Counted while somebody has it.
  private final class Held {}
  static let get = "GET /a HTTP/1.1\r\nHost: localhost\r\n\r\n"

  @Test("Port 0 becomes the real port, and a taken port is a socket error")
  func binding() throws {
    let live = try LiveServer.echo()
    #expect(live.server.address.port != 0)
    let error = #expect(throws: SocketError.self) {
      _ = try HTTPServer(loop: live.loop, address: live.server.address) { (_: HTTPExchange) in }
    }
    #expect(error?.isAddressInUse == true)
  }

  @Test("A connection is kept for the next request, and pipelined requests are answered in order")
  func keepAlive() throws {
    let live = try LiveServer.echo()
    let client = try live.connect()
    client.send(Self.get)
    #expect(live.receive(client) { $0.hasSuffix("GET 0") }.hasPrefix("HTTP/1.1 200 OK\r\n"))
    client.forget()
    client.send(Self.get + "DELETE /b HTTP/1.1\r\nHost: localhost\r\n\r\n")
    let text = live.receive(client) { $0.hasSuffix("DELETE 0") }
    #expect(text.contains("GET 0HTTP/1.1 200"))
    #expect(live.server.openConnections.map(\.requestCount) == [3])
  }

  @Test("A chunked body arrives whole; a chunk that lies about its size is refused")
  func chunked() throws {
    let live = try LiveServer.echo()
    let client = try live.connect()
    let head = "PUT /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    client.send(head + "3\r\nabc\r\n0\r\n\r\n")
    #expect(live.receive(client) { $0.hasSuffix("PUT 3") }.contains("200 OK"))
    client.forget()
    client.send(head + "3\r\nabcdef\r\n")
    #expect(live.receive(client) { $0.hasSuffix("}") }.contains("HTTP/1.1 400"))
  }

  @Test("Any method reaches the handler, and HEAD is answered without a body")
  func methods() throws {
    let live = try LiveServer.echo()
    for method in ["PATCH", "OPTIONS", "PUT", "BREW"] {
      let client = try live.connect()
      client.send("\(method) / HTTP/1.1\r\nHost: localhost\r\n\r\n")
      #expect(live.receive(client) { $0.hasSuffix("\(method) 0") }.contains("200 OK"))
    }
    let client = try live.connect()
    client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
    let text = live.receive(client) { _ in false }
    #expect(text.contains("Content-Length: 6\r\n") && text.hasSuffix("\r\n\r\n"))
  }

  @Test("HEAD of a stream is its head alone, and the connection goes on")
  func headOfStream() throws {
    let live = try LiveServer.keeping()
    let client = try live.connect()
    client.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try #require(live.turn { live.kept.exchanges.count == 1 })
    live.kept.exchanges[0].startStream(HTTPResponse(text: "first"))
    live.kept.exchanges[0].send(Array("second".utf8))
    live.kept.exchanges[0].endStream()
    let head = live.receive(client) { $0.hasSuffix("\r\n\r\n") }
    #expect(head.contains("Transfer-Encoding: chunked\r\n") && !head.contains("Content-Length"))
    client.forget()
    client.send(Self.get)
    try #require(live.turn { live.kept.exchanges.count == 2 })
    live.kept.exchanges[1].respond(HTTPResponse(text: "next"))
    #expect(live.receive(client) { $0.hasSuffix("next") }.hasPrefix("HTTP/1.1 200"))
  }

  @Test("Whoever streams is told when the client has read what there was")
  func room() throws {
    let live = try LiveServer.keeping()
    let client = try live.connect()
    client.send(Self.get)
    try #require(live.turn { live.kept.exchanges.count == 1 })
    let exchange = live.kept.exchanges[0]
    var calls = 0
    var held: Held? = Held()
    weak let seen = held
    exchange.whenRead { [held] in withExtendedLifetime(held) { calls += 1 } }
    held = nil
    exchange.startStream(HTTPResponse(text: ""))
    // More than the system's buffers take for a client that does not read.
    exchange.send([UInt8](repeating: 0x20, count: 12 << 20))
    for _ in 0..<10 { live.loop.runTurn(wait: false) }
    #expect(calls == 0 && exchange.queuedBytes > 0)
    try #require(
      live.turn {
        client.read()
        return calls > 0
      })
    #expect(exchange.queuedBytes == 0)
    exchange.endStream()
    #expect(seen == nil, "nobody is called any more")
  }

  @Test("A body beyond the limit is answered 413 in JSON, which survives what the client still sends")
  func tooLarge() throws {
    var limits = HTTPLimits()
    limits.body = 1000
    let live = try LiveServer.echo(limits)
    let client = try live.connect()
    client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
    client.send(String(repeating: "x", count: 50_000))
    let text = live.receive(client) { _ in false }
    #expect(text.hasPrefix("HTTP/1.1 413 Content Too Large\r\n"))
    let error =
      #"{"error":{"code":"bodyTooLarge","message":"the body: expected at most 1000 bytes, got 100000"}}"#
    #expect(text.hasSuffix(error))
  }

  @Test("A client that dribbles its request gets 408, an idle one is closed without a word")
  func slow() throws {
    var limits = HTTPLimits()
    (limits.requestTime, limits.idleTime) = (50_000_000, 50_000_000)
    let live = try LiveServer.echo(limits)
    let (slow, idle) = (try live.connect(), try live.connect())
    slow.send("GET / HT")
    let text = live.receive(slow) { _ in false }
    #expect(text.hasPrefix("HTTP/1.1 408"))
    #expect(live.receive(idle) { _ in false } == "")
  }

  @Test("Who sends nothing but empty lines is idle", arguments: ["\r\n", "\r", "\n"])
  func emptyLines(_ line: String) throws {
    var limits = HTTPLimits()
    limits.idleTime = 50_000_000
    // Much longer than the test waits: the lines must not be taken for a request that has begun.
    limits.requestTime = 3_600_000_000_000
    let live = try LiveServer.echo(limits)
    let client = try live.connect()
    client.send(line)
    live.loop.runTurn(wait: false)
    client.send(line)
    #expect(live.receive(client) { _ in false } == "")
  }

  @Test("A kept exchange is answered later, and a byte sent meanwhile does no harm")
  func longPoll() throws {
    let live = try LiveServer.keeping()
    let client = try live.connect()
    client.send(Self.get)
    try #require(live.turn { !live.kept.exchanges.isEmpty })
    client.send("GET /b")
    live.loop.runTurn(wait: false)
    live.kept.exchanges[0].respond(HTTPResponse(text: "late"))
    #expect(live.receive(client) { $0.hasSuffix("late") }.contains("200 OK"))
    client.send(" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    try #require(live.turn { live.kept.exchanges.count == 2 })
    #expect(live.kept.exchanges[1].request.path == "/b")
  }

  @Test("A client that goes during a long poll is noticed once", arguments: [false, true])
  func clientGone(reset: Bool) throws {
    let live = try LiveServer.keeping()
    let client = try live.connect()
    client.send(Self.get)
    try #require(live.turn { !live.kept.exchanges.isEmpty })
    var calls = 0
    live.kept.exchanges[0].whenGone { calls += 1 }
    client.close(reset: reset)
    #expect(live.turn { calls == 1 })
    #expect(!live.kept.exchanges[0].isOpen)
    live.kept.exchanges[0].respond(HTTPResponse(text: "to nobody"))
    #expect(live.turn { live.server.openConnections.isEmpty })
    #expect(calls == 1)
  }

  @Test("A request followed by the end of the stream is still answered")
  func halfClose() throws {
    let live = try LiveServer.echo()
    let client = try live.connect()
    client.send(Self.get)
    client.endSending()
    #expect(live.receive(client) { _ in false }.hasSuffix("GET 0"))
  }

  @Test("A stream is sent in chunks and can be ended")
  func stream() throws {
    let live = try LiveServer.keeping()
    let client = try live.connect()
    client.send(Self.get)
    try #require(live.turn { !live.kept.exchanges.isEmpty })
    let exchange = live.kept.exchanges[0]
    exchange.startStream(HTTPResponse(text: "a"))
    exchange.send(Array("bc".utf8))
    exchange.endStream()
    let text = live.receive(client) { $0.hasSuffix("0\r\n\r\n") }
    #expect(text.contains("Transfer-Encoding: chunked\r\n"))
    #expect(text.hasSuffix("\r\n\r\n1\r\na\r\n2\r\nbc\r\n0\r\n\r\n"))
    client.forget()
    client.send(Self.get)
    try #require(live.turn { live.kept.exchanges.count == 2 })
  }

  @Test("A client that does not read its stream is cut off at the limit")
  func unreadStream() throws {
    var limits = HTTPLimits()
    limits.unread = 1 << 20
    let live = try LiveServer.keeping(limits)
    let client = try live.connect()
    client.send(Self.get)
    try #require(live.turn { !live.kept.exchanges.isEmpty })
    let exchange = live.kept.exchanges[0]
    var isGone = false
    exchange.whenGone { isGone = true }
    exchange.startStream(HTTPResponse(status: 200))
    let piece = [UInt8](repeating: 0x61, count: 64 << 10)
    for _ in 0..<1000 where !isGone {
      exchange.send(piece)
      live.loop.runTurn(wait: false)
    }
    #expect(isGone)
  }

  @Test("As much of a stream may wait as the limit says, and not a byte more")
  func unreadLimit() throws {
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let piece = [UInt8](repeating: 0x61, count: 160)
    for (excess, isOpen) in [(0, true), (1, false)] {
      var limits = HTTPLimits()
      // A chunk is its size in hexadecimal digits, its bytes, and the end of both lines.
      limits.unread = head.utf8.count + 2 + 2 + 160 + 2 - excess
      let live = try LiveServer.keeping(limits)
      let client = try live.connect()
      client.send(Self.get)
      try #require(live.turn { !live.kept.exchanges.isEmpty })
      let exchange = live.kept.exchanges[0]
      exchange.startStream(HTTPResponse(status: 200))
      exchange.send(piece)
      #expect(exchange.isOpen == isOpen)
    }
  }

  @Test("While 1 MiB of answers waits no other request is taken up, and one byte less lets it")
  func answerBacklog() throws {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1048500\r\n\r\n".utf8.count
    for (total, taken) in [((1 << 20) - 1, 2), (1 << 20, 1)] {
      var (answers, answersOfTurn) = (0, 0)
      let live = try LiveServer { exchange, _ in
        answers += 1
        exchange.respond(HTTPResponse(status: 200, body: [UInt8](repeating: 0x61, count: total - head)))
      }
      // Behind this hook what waits is written.
      live.loop.atTurnEnd { if answersOfTurn == 0 { answersOfTurn = answers } }
      let client = try live.connect()
      client.send(Self.get + Self.get)
      try #require(live.turn { answersOfTurn > 0 })
      #expect(answersOfTurn == taken)
    }
  }

  @Test("Of an answer without end of which nothing waits no progress is asked")
  func standing() throws {
    let live = try LiveServer.keeping()
    let client = try live.connect()
    client.send(Self.get)
    try #require(live.turn { !live.kept.exchanges.isEmpty })
    let served = try #require(live.server.openConnections.first)
    served.stand(stallTime: 3_600_000_000_000)
    #expect(served.connection.deadline == .distantFuture)
    live.kept.exchanges[0].startStream(HTTPResponse(status: 200))
    #expect(served.connection.deadline < .distantFuture)
  }

  @Test("A client that reads no answer is cut off, whatever it asks for next")
  func unreadAnswer() throws {
    var limits = HTTPLimits()
    limits.stallTime = 50_000_000
    let live = try LiveServer.keeping(limits)
    let client = try live.connect()
    client.send(Self.get + Self.get)
    try #require(live.turn { live.kept.exchanges.count == 1 })
    let exchange = live.kept.exchanges[0]
    exchange.startStream(HTTPResponse(status: 200))
    // Until the system's buffers take no more; they grow for a while.
    while exchange.queuedBytes < 1 << 19 {
      exchange.send([UInt8](repeating: 0x61, count: 64 << 10))
      live.loop.runTurn(wait: false)
    }
    exchange.endStream()
    #expect(live.kept.exchanges.count == 2, "the next is taken up while an answer waits")
    #expect(live.turn { live.server.openConnections.isEmpty })
  }

  @Test("Answers leave only after the hooks at the end of the turn")
  func commitBeforeAnswer() throws {
    let live = try LiveServer.echo()
    var seenBeforeHook: [String] = []
    let client = try live.connect()
    client.send(Self.get)
    var wasAnswered = false
    live.loop.atTurnEnd {
      guard live.server.openConnections.first?.requestCount == 1, !wasAnswered else { return }
      wasAnswered = true
      client.read()
      seenBeforeHook.append(client.text)
    }
    _ = live.receive(client) { $0.hasSuffix("GET 0") }
    #expect(seenBeforeHook == [""])
  }

  @Test("Shutting down ends idle connections, lets an answer out and cuts streams")
  func shutDown() throws {
    let live = try LiveServer.keeping()
    let (idle, busy, stream) = (try live.connect(), try live.connect(), try live.connect())
    busy.send(Self.get)
    try #require(live.turn { live.kept.exchanges.count == 1 })
    stream.send(Self.get)
    try #require(live.turn { live.kept.exchanges.count == 2 && live.server.openConnections.count == 3 })
    live.kept.exchanges[1].startStream(HTTPResponse(text: "x"))
    live.server.shutDown()
    _ = live.receive(idle) { _ in false }
    _ = live.receive(stream) { _ in false }
    live.kept.exchanges[0].respond(HTTPResponse(text: "last"))
    #expect(live.receive(busy) { _ in false }.hasSuffix("last"))
  }

  @Test(
    "Who pipelines and never reads is read from up to the pipeline limit, and answered in full once it reads")
  func pipelinedUnread() throws {
    let live = try LiveServer { exchange, _ in
      exchange.respond(HTTPResponse(text: String(repeating: "x", count: 8000)))
    }
    let client = try live.connect()
    // Long, so that the system's buffers hold few of them.
    let body = String(repeating: "x", count: 16_000)
    let request = "PUT /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    var (sent, refusals) = (0, 0)
    while refusals < 50, sent < 64 << 20 {
      let count = max(0, client.send(String(request.utf8.dropFirst(sent % request.utf8.count)) ?? ""))
      sent += count
      refusals = count > 0 ? 0 : refusals + 1
      live.loop.runTurn(wait: false)
      if count == 0 { WorkerThread.sleep(microseconds: 1000) }
    }
    let served = try #require(live.server.openConnections.first)
    let taken = served.requestCount * request.utf8.count
    #expect(
      served.bytesRead - taken
        <= live.server.limits.pipelined + 65_536 + request.utf8.count)
    let whole = sent / request.utf8.count
    #expect(
      live.turn {
        client.read()
        client.forget()
        return served.requestCount == whole
      })
  }

  @Test("Who has stopped accepting serves nobody who comes then")
  func stopsAccepting() throws {
    for stop in [{ $0.shutDown() }, { $0.abort() }] as [(HTTPServer) -> Void] {
      let live = try LiveServer.echo()
      stop(live.server)
      // The system may also refuse at once, which is thrown.
      guard let late = try? live.connect() else { continue }
      late.send(Self.get)
      #expect(
        live.turn {
          late.read()
          return late.isAtEnd
        })
      #expect(late.bytes.isEmpty)
    }
  }

  @Test("A server that is let go drops its clients")
  func letGo() throws {
    var live: LiveServer? = try LiveServer.keeping()
    let client = try #require(live).connect()
    client.send(Self.get)
    try #require(live?.turn { live?.kept.exchanges.count == 1 } == true)
    live = nil
    let end = SystemClock.now().adding(nanoseconds: 5_000_000_000)
    while !client.isAtEnd, SystemClock.now() < end { client.read() }
    #expect(client.isAtEnd && client.bytes.isEmpty)
  }

  @Test("Nobody is called any more for an exchange that is answered, or whose client is gone")
  func calledNoMore() throws {
    for isAnswered in [false, true] {
      let live = try LiveServer.keeping()
      let client = try live.connect()
      client.send(Self.get)
      try #require(live.turn { live.kept.exchanges.count == 1 })
      let exchange = live.kept.exchanges[0]
      var reads = 0
      exchange.whenRead { reads += 1 }
      if isAnswered { exchange.respond(HTTPResponse(text: "")) }
      client.close(reset: true)
      try #require(live.turn { live.server.openConnections.isEmpty })
      exchange.roomMade()
      #expect(reads == 0)
    }
  }

  @Test("A header value can't begin another line")
  func headerInjection() throws {
    let live = try LiveServer { exchange, _ in
      exchange.respond(HTTPResponse(status: 204, fields: [HTTPField("X", "a\r\nY: b")]))
    }
    let client = try live.connect()
    client.send(Self.get)
    let text = live.receive(client) { $0.hasSuffix("\r\n\r\n") }
    #expect(text == "HTTP/1.1 204 No Content\r\nX: a  Y: b\r\n\r\n")
  }
}
