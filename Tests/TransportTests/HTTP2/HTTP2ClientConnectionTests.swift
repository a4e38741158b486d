import Basics
import Platform
import Testing

import Transport

/// A connection to a server that a test plays on its own session.
@Suite("An HTTP/2 client connection")
struct HTTP2ClientConnectionTests {
  @Test("tells its owner of the answer, and of room once SETTINGS are here")
  func answered() throws {
    let pair = try ClientAndServer(isOpen: false) {
      HTTP2Response(status: 200, body: Array("\($0.streamID)".utf8))
    }
    #expect(pair.client.connection?.room == 0)
    pair.send(7)
    pair.stage.turn(until: "there is an answer") { pair.client.ends[7] != nil }
    #expect(pair.client.ends[7] == "answered 200 1")
    #expect(pair.client.connection?.room == HTTP2Options.usualStreams)
    #expect(pair.client.connection?.answers == 1)
  }

  @Test("has room for as many requests as the server takes, and 1000 at most", arguments: [3, 1000, 1001])
  func room(streams: Int) throws {
    let pair = try ClientAndServer(streams: streams) { _ in nil }
    #expect(pair.client.advances > 1, "once TLS was up, and now")
    #expect(pair.client.connection?.room == min(streams, 1000))
    pair.send(1)
    #expect(pair.client.connection?.room == min(streams, 1000) - 1)
  }

  @Test("closes behind a GOAWAY once the last answer is here; what the server did not look at is refused")
  func leaving() throws {
    let pair = try ClientAndServer { _ in nil }
    for context in 1...2 { pair.send(context) }
    pair.stage.turn(until: "both are there") { pair.server.requests.count == 2 }
    let first = try #require(pair.server.requests.first)
    // GOAWAY with 1 as the last stream (RFC 9113 6.8).
    pair.server.raw([0, 0, 8, 7, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
    pair.stage.turn(until: "the second is refused") { pair.client.ends[2] != nil }
    #expect(pair.client.ends == [2: "refused: the stream was reset with REFUSED_STREAM (7)"])
    #expect(pair.client.isLeaving && pair.client.connection?.room == 0)
    #expect(!pair.send(3))
    pair.server.answer(first, HTTP2Response(status: 200))
    pair.stage.turn(until: "it is closed") { pair.client.closeReason != nil }
    #expect(pair.client.ends[1] == "answered 200 ")
  }

  @Test("that is cut loses what has no answer, and knows what a header says")
  func cut() throws {
    let pair = try ClientAndServer { _ in nil }
    for context in 1...3 { pair.send(context) }
    pair.stage.turn(until: "all are there") { pair.server.requests.count == 3 }
    // HEADERS with END_HEADERS: entries 8 and 12 of the static table, statuses 200 and 400 (RFC 7541 A).
    pair.server.raw([0, 0, 1, 1, 4, 0, 0, 0, 1, 0x88] + [0, 0, 1, 1, 4, 0, 0, 0, 3, 0x8c])
    pair.server.end()
    pair.stage.turn(until: "it is closed") { pair.client.closeReason != nil }
    let reason = try #require(pair.client.closeReason)
    #expect(pair.client.ends == [1: "answered 200 ", 2: "refused: \(reason)", 3: "lost: \(reason)"])
    #expect(pair.client.connection?.isClosed == true && pair.client.connection?.wasOpened == true)
  }

  @Test("gives up on a server that owes an answer and is silent")
  func silent() throws {
    let pair = try ClientAndServer { _ in nil }
    let now = SystemClock.now()
    pair.client.connection?.endIfSilent(for: 0, now: now.adding(nanoseconds: 1_000_000_000))
    #expect(pair.client.closeReason == nil, "nothing is owed")
    pair.send(1)
    pair.stage.turn(until: "the request is there") { pair.server.requests.count == 1 }
    pair.client.connection?.endIfSilent(for: 60_000_000_000, now: now.adding(nanoseconds: 1_000_000_000))
    #expect(pair.client.closeReason == nil)
    pair.client.connection?.endIfSilent(for: 30_000_000_000, now: now.adding(nanoseconds: 100_000_000_000))
    #expect(pair.client.ends == [1: "lost: no answer within 30 seconds"])
  }

  @Test("waits for a sign from the first request on after a rest, and not anew from each that joins it")
  func silentBehindRest() throws {
    let pair = try ClientAndServer { _ in nil }
    /// A time behind all that has happened, and before all that will.
    func between() -> Instant {
      let before = SystemClock.now()
      while SystemClock.now() == before {}
      let now = SystemClock.now()
      while SystemClock.now() == now {}
      return now
    }
    let rested = between()
    pair.send(1)
    pair.client.connection?.endIfSilent(for: 0, now: rested)
    #expect(pair.client.closeReason == nil)
    let joined = between()
    pair.send(2)
    pair.client.connection?.endIfSilent(for: 0, now: joined)
    #expect(pair.client.closeReason == "no answer within 0 seconds")
  }

  @Test("gives up on a server that has never said anything, with TLS or before")
  func mute() throws {
    let pair = try ClientAndServer(isMute: true, isOpen: false) { _ in nil }
    let now = SystemClock.now()
    pair.client.connection?.endIfSilent(for: 30_000_000_000, now: now.adding(nanoseconds: 1_000_000_000))
    #expect(pair.client.closeReason == nil, "it has just begun")
    pair.stage.turn(until: "TLS is up") { pair.client.connection?.isOpen == true }
    #expect(pair.client.advances == 1)
    pair.client.connection?.endIfSilent(for: 60_000_000_000, now: now.adding(nanoseconds: 1_000_000_000))
    #expect(pair.client.closeReason == nil)
    pair.client.connection?.endIfSilent(for: 30_000_000_000, now: now.adding(nanoseconds: 100_000_000_000))
    #expect(pair.client.closeReason == "no answer within 30 seconds")
    let early = try ClientAndServer(isMute: true, isOpen: false) { _ in nil }
    early.client.connection?.endIfSilent(for: 30_000_000_000, now: now.adding(nanoseconds: 100_000_000_000))
    #expect(early.client.closeReason == "no answer within 30 seconds")
  }

  @Test("tells the server that it goes, in whichever way it does")
  func saysGoAway() throws {
    for end in [{ $0.close() }, { $0.end() }] as [(HTTP2ClientConnection) -> Void] {
      let pair = try ClientAndServer { _ in nil }
      pair.stage.settle()
      try end(#require(pair.client.connection))
      pair.stage.turn(until: "the server knows") { pair.server.hasEnded }
      #expect(pair.server.wasToldGoAway)
    }
  }

  @Test("that is leaving closes when the last request is cancelled")
  func leavingWithNothing() throws {
    let pair = try ClientAndServer { _ in nil }
    pair.send(1)
    pair.stage.turn(until: "the request is there") { pair.server.requests.count == 1 }
    pair.client.connection?.leave()
    #expect(pair.client.connection?.isClosed == false && pair.client.ends.isEmpty)
    pair.client.connection?.cancel(1)
    #expect(pair.client.ends == [1: "lost: the stream was reset with CANCEL (8)"])
    pair.stage.turn(until: "it is closed") { pair.client.closeReason != nil }
  }

  @Test("loses a request that is cancelled")
  func cancelled() throws {
    let pair = try ClientAndServer { _ in nil }
    for context in 1...2 { pair.send(context) }
    pair.client.connection?.cancel(2)
    #expect(pair.client.ends == [2: "lost: the stream was reset with CANCEL (8)"])
    #expect(pair.client.connection?.openStreams == 1)
  }

  @Test("refuses a server that does not choose HTTP/2, and says so")
  func notHTTP2() throws {
    let pair = try ClientAndServer(alpn: nil, isOpen: false) { _ in nil }
    pair.stage.turn(until: "it is closed") { pair.client.closeReason != nil }
    #expect(pair.client.closeReason == "not an HTTP/2 server: it did not choose \"h2\" by ALPN")
    #expect(pair.client.connection?.wasOpened == false)
  }
}

/// A client connection and a server's session on one stage.
private final class ClientAndServer {
  let stage: Stage
  let client = Owner()
  let server: Server

  /// The server takes as many `streams` at a time. With `isOpen`, SETTINGS have come and gone; a server that `isMute` never sends any. `answer` is what the server says at
  /// once, if anything.
  init(
    alpn: String? = "h2", streams: Int = 1000, isMute: Bool = false, isOpen: Bool = true,
    answer: @escaping (HTTP2Request) -> HTTP2Response?
  ) throws {
    server = Server(streams)
    var policy = TLSPolicy()
    policy.protocols = ALPNChoice { _ in alpn }
    let server = self.server
    server.answer = answer
    stage = try Stage(policy) { peer in
      guard !isMute else { return }
      peer.onOpened = { server.opened($0) }
      peer.onReceived = { server.received($1) }
    }
    client.connection = try stage.connectHTTP2(owner: client)
    guard isOpen else { return }
    stage.turn(until: "SETTINGS are here") { client.connection?.isReady == true }
  }

  deinit { client.connection?.end() }

  @discardableResult
  func send(_ context: Int) -> Bool {
    let head = HTTP2RequestHead(authority: "localhost")
    defer { client.connection?.flush() }
    return client.connection?.send(head, path: "/", body: [1], context: context) ?? false
  }
}

private final class Server {
  private let session: HTTP2ServerSession?
  private var connection: SocketConnection?
  private(set) var requests: [HTTP2Request] = []
  var answer: (HTTP2Request) -> HTTP2Response? = { _ in nil }

  init(_ streams: Int) {
    var options = HTTP2Options(streams: streams)
    options.streamCeiling = streams
    session = HTTP2ServerSession(options: options)
  }

  func opened(_ connection: SocketConnection) {
    self.connection = connection
    flush()
  }

  func received(_ bytes: Span<UInt8>) {
    _ = session?.receive(bytes)
    while let request = session?.nextRequest() {
      requests.append(request)
      if let response = answer(request) { session?.respond(to: request, with: response) }
    }
    flush()
  }

  func answer(_ request: HTTP2Request, _ response: HTTP2Response) {
    session?.respond(to: request, with: response)
    flush()
  }

  func raw(_ bytes: [UInt8]) { connection?.send(bytes) }
  func end() { connection?.close() }
  var hasEnded: Bool { connection.map { !$0.isOpen } ?? false }
  var wasToldGoAway: Bool { session?.peerGoAway != nil }

  private func flush() { session?.drainOutput { connection?.send($0) } }
}

private final class Owner: HTTP2ClientOwner {
  var connection: HTTP2ClientConnection?
  private(set) var ends: [Int: String] = [:]
  private(set) var isLeaving = false
  private(set) var advances = 0
  private(set) var closeReason: String?

  func connection(_ connection: HTTP2ClientConnection, settled context: Int, _ outcome: HTTP2Outcome) {
    #expect(ends[context] == nil, "a request ends once")
    switch outcome {
    case .answered(let stream):
      ends[context] = "answered \(stream.status) \(stream.body.span.text)"
    case .refused(let reason): ends[context] = "refused: \(reason)"
    case .lost(let reason): ends[context] = "lost: \(reason)"
    }
  }

  func connectionAdvanced(_ connection: HTTP2ClientConnection) {
    #expect(!connection.isClosed)
    advances += 1
  }

  func connectionLeaving(_ connection: HTTP2ClientConnection) { isLeaving = true }
  func connectionClosed(_ connection: HTTP2ClientConnection, reason: String) { closeReason = reason }
}
