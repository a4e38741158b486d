import Basics
import Testing

import NATSWire

/// A session, and what a server would say to it.
private final class Talk {
  static let info = #"INFO {"version":"2.9.10","headers":true,"jetstream":true,"nonce":"n0"}"# + "\r\n"
  static let inbox = "_INBOX.0102."
  var session: NATSClientSession
  private(set) var now = Instant(nanoseconds: 0)

  init(wantsTLS: Bool = false) {
    session = NATSClientSession(unique: [1, 2], wantsTLS: wantsTLS, now: now) { nonce in
      NATSIntroduction(
        name: "node-1", software: "1", credentials: nonce.map { .signed(jwt: "j", signature: "s\($0)") })
    }
  }

  func hear(_ text: String) throws -> [NATSClientSession.Event] {
    session.receive(Array(text.utf8).span, now: now)
    return try events()
  }

  func events() throws -> [NATSClientSession.Event] {
    var events: [NATSClientSession.Event] = []
    while let event = try session.next() { events.append(event) }
    return events
  }

  /// What the session has to say.
  func said() -> String {
    defer { session.output.removeAll() }
    return String(decoding: session.output, as: UTF8.self)
  }

  func wait(seconds: Double) throws {
    now = now.adding(nanoseconds: Int64(seconds * 1e9))
    try session.tick(now)
  }

  func start() throws {
    _ = try hear(Self.info + "PONG\r\n")
    _ = said()
  }

  func request() -> NATSRequest? {
    session.request("a.b", Array("hi".utf8), until: now.adding(nanoseconds: 5_000_000_000))
  }
}

@Suite struct NATSClientSessionTests {
  @Test func introducesItselfAndIsLetIn() throws {
    let talk = Talk()
    #expect(try talk.hear(Talk.info) == [])
    let said = talk.said()
    #expect(said.hasPrefix("CONNECT {") && said.contains(#""jwt":"j","sig":"sn0"}"#))
    #expect(said.hasSuffix("\r\nSUB \(Talk.inbox)* 1\r\nPING\r\n"))
    let events = try talk.hear("PONG\r\n")
    guard case .ready(let info)? = events.first else { throw Unexpected(events: events) }
    #expect(info.nonce == "n0")
    // A later PONG is an answer to a question of ours.
    #expect(try talk.hear("PONG\r\n") == [])
  }

  @Test(arguments: [true, false])
  func waitsForTLS(byTheServer: Bool) throws {
    let talk = Talk(wantsTLS: !byTheServer)
    let says = byTheServer ? "tls_required" : "tls_available"
    let info = Talk.info.replacing("{", with: #"{"\#(says)":true,"#)
    #expect(try talk.hear(info) == [.startTLS])
    #expect(talk.said() == "")
    talk.session.tlsIsUp()
    #expect(talk.said().hasPrefix("CONNECT {"))
  }

  @Test func saysNothingInTheClearWhereTLSIsWanted() throws {
    let talk = Talk(wantsTLS: true)
    #expect(throws: NATSSessionEnd.unsuitable("it has no TLS, which is required")) {
      try talk.hear(Talk.info)
    }
    #expect(talk.said() == "")
  }

  @Test func keepsWhatIsSaidTooEarly() throws {
    let talk = Talk()
    let subscription = talk.session.subscribe("a.*")
    talk.session.publish("a.b", [0x78])
    _ = try talk.hear(Talk.info)
    #expect(!talk.said().contains("a.b"))
    _ = try talk.hear("PONG\r\n")
    #expect(talk.said() == "SUB a.* 2\r\nPUB a.b 1\r\nx\r\n")
    #expect(
      try talk.hear("MSG a.b 2 1\r\nx\r\n")
        == [.message(NATSMessage(subject: "a.b", subscription: subscription, payload: [0x78]))])
  }

  @Test func bringsAnswersToTheirRequests() throws {
    let talk = Talk()
    try talk.start()
    let first = try #require(talk.request())
    let second = try #require(talk.request())
    #expect(talk.said() == "PUB a.b \(Talk.inbox)1 2\r\nhi\r\nPUB a.b \(Talk.inbox)2 2\r\nhi\r\n")
    let events = try talk.hear(
      "HMSG \(Talk.inbox)2 1 16 16\r\nNATS/1.0 503\r\n\r\n\r\nMSG \(Talk.inbox)1 1 2\r\nok\r\n")
    let message = NATSMessage(subject: Talk.inbox + "1", subscription: 1, payload: Array("ok".utf8))
    #expect(events == [.answer(second, .nobodyListens), .answer(first, .message(message))])
    // A second answer to the same is nobody's.
    #expect(try talk.hear("MSG \(Talk.inbox)1 1 2\r\nok\r\n") == [])
    #expect(talk.session.waitingCount == 0)
  }

  @Test func tellsOnceOfARequestWithoutAnAnswer() throws {
    let talk = Talk()
    try talk.start()
    let first = try #require(talk.request())
    try talk.wait(seconds: 1)
    let second = try #require(talk.request())
    _ = try talk.hear("PING\r\n")
    try talk.wait(seconds: 4)
    #expect(try talk.events() == [.answer(first, .late)])
    _ = try talk.hear("PONG\r\n")
    try talk.wait(seconds: 1)
    #expect(try talk.events() == [.answer(second, .late)])
    #expect(try talk.hear("MSG \(Talk.inbox)1 1 2\r\nok\r\n") == [])
  }

  @Test func hasABoundOfRequests() throws {
    let talk = Talk()
    try talk.start()
    for _ in 0..<NATSClientSession.requestLimit { #expect(talk.request() != nil) }
    _ = talk.said()
    #expect(talk.request() == nil)
    #expect(talk.said() == "")
  }

  @Test func asksASilentServerAndGivesItUp() throws {
    let talk = Talk()
    try talk.start()
    try talk.wait(seconds: 1.9)
    #expect(talk.said() == "")
    try talk.wait(seconds: 0.1)
    #expect(talk.said() == "PING\r\n")
    _ = try talk.hear("PONG\r\n")
    try talk.wait(seconds: 2)
    try talk.wait(seconds: 2)
    #expect(talk.said() == "PING\r\nPING\r\n")
    #expect(throws: NATSSessionEnd.silent) { try talk.wait(seconds: 2) }
  }

  @Test func givesUpAServerThatNeverLetsUsIn() throws {
    let talk = Talk()
    #expect(throws: NATSSessionEnd.silent) { try talk.wait(seconds: 2) }
  }

  @Test func answersTheServersQuestions() throws {
    let talk = Talk()
    try talk.start()
    #expect(try talk.hear("PING\r\n") == [])
    #expect(talk.said() == "PONG\r\n")
  }

  @Test(arguments: [
    ("-ERR 'Authorization Violation'\r\n", NATSSessionEnd.refused("Authorization Violation")),
    ("HELLO\r\n", .broken(.malformed("the operation HELLO"))),
  ])
  func endsForWhatTheServerSays(text: String, end: NATSSessionEnd) throws {
    for isStarted in [false, true] {
      let talk = Talk()
      if isStarted { try talk.start() }
      #expect(throws: end) { _ = try talk.hear(text) }
    }
  }

  @Test func needsHeaders() throws {
    let talk = Talk()
    #expect(throws: NATSSessionEnd.unsuitable("it has no headers (NATS 2.2 or later has them)")) {
      _ = try talk.hear("INFO {\"version\":\"2.1.0\"}\r\n")
    }
  }

  @Test func hearsThatTheServerLeaves() throws {
    let talk = Talk()
    try talk.start()
    let events = try talk.hear(Talk.info.replacing("{", with: #"{"ldm":true,"#))
    guard case .changed(let info)? = events.first else { throw Unexpected(events: events) }
    #expect(info.isLeaving)
  }
}

private struct Unexpected: Error {
  let events: [NATSClientSession.Event]
}
