import Basics
import Testing

import Transport

@Suite("HTTP/2, what is not complete in time, and what it costs")
struct HTTP2OverdueTests {
  private static let options = HTTP2Options()
  private static let start = Instant(nanoseconds: 1_000_000_000_000)
  private static let second: Int64 = 1_000_000_000

  private func started() throws -> HTTP2ServerSession {
    let session = try #require(HTTP2ServerSession())
    #expect(session.receive(RawFrame.preface + RawFrame.settings) == .taken)
    _ = session.output()
    return session
  }

  /// The resets among what the session sends now: stream and error code.
  private func resets(_ session: HTTP2ServerSession) -> [[UInt32]] {
    ReadFrame.all(session.output()).filter { $0.type == 3 }.map { frame in
      [frame.stream, frame.payload.reduce(0) { $0 << 8 | UInt32($1) }]
    }
  }

  @Test("a request whose body does not end is reset in time, also when it trickles; the connection goes on")
  func body() throws {
    let session = try started()
    _ = session.receive(RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders))
    _ = session.receive(RawFrame.headers(3, RawFrame.pseudo, flags: RawFrame.endHeaders))
    #expect(session.endOverdue(Self.start) == .init())
    for second in 1..<30 {
      _ = session.receive(RawFrame.data(3, [0x20], isLast: false))
      #expect(session.endOverdue(Self.start.adding(nanoseconds: Int64(second) * Self.second)) == .init())
    }
    #expect(session.endOverdue(Self.start.adding(nanoseconds: 30 * Self.second)) == .init(streams: 2))
    // 11 is ENHANCE_YOUR_CALM (RFC 9113 7).
    #expect(Set(resets(session)) == [[1, 11], [3, 11]])
    #expect(session.openStreams == 0)
    _ = session.receive(RawFrame.headers(5, RawFrame.pseudo))
    #expect(session.takeRequests().map(\.streamID) == [5])
  }

  @Test("each stream has its own time, also one that uses what another has left")
  func eachStream() throws {
    let session = try started()
    _ = session.receive(RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders))
    _ = session.endOverdue(Self.start)
    _ = session.receive(RawFrame.data(1, [0x20]))
    for request in session.takeRequests() { session.respond(to: request, with: HTTP2Response(status: 200)) }
    _ = session.output()
    _ = session.receive(RawFrame.headers(3, RawFrame.pseudo, flags: RawFrame.endHeaders))
    #expect(session.endOverdue(Self.start.adding(nanoseconds: 31 * Self.second)) == .init())
    #expect(session.endOverdue(Self.start.adding(nanoseconds: 60 * Self.second)) == .init())
    #expect(session.endOverdue(Self.start.adding(nanoseconds: 61 * Self.second)) == .init(streams: 1))
  }

  @Test("a request that waits for us is not overdue; its answer is, when its client gives no window for it")
  func answer() throws {
    let session = try started()
    // INITIAL_WINDOW_SIZE 0: nothing of an answer's body may leave.
    _ = session.receive(RawFrame.frame(4, 0, 0, [0, 4, 0, 0, 0, 0]))
    _ = session.receive(RawFrame.headers(1, RawFrame.pseudo))
    let request = try #require(session.takeRequests().first)
    #expect(session.endOverdue(Self.start) == .init())
    let late = Self.start.adding(nanoseconds: 3600 * Self.second)
    #expect(session.endOverdue(late) == .init())
    session.respond(to: request, with: HTTP2Response(status: 400, body: Array("{}".utf8)))
    _ = session.output()
    #expect(session.endOverdue(late) == .init())
    #expect(session.endOverdue(late.adding(nanoseconds: 59 * Self.second)) == .init())
    #expect(session.endOverdue(late.adding(nanoseconds: 60 * Self.second)) == .init(streams: 1))
    #expect(resets(session) == [[1, 11]])
    #expect(session.openStreams == 0)
  }

  @Test("a header block that is not whole in time ends the session, in frames and within one")
  func headers() throws {
    let block = RawFrame.block(RawFrame.pseudo)
    let beginnings = [
      RawFrame.frame(1, RawFrame.endStream, 1, block),
      Array(RawFrame.headers(1, RawFrame.pseudo).dropLast()),
    ]
    for beginning in beginnings {
      let session = try started()
      _ = session.receive(beginning)
      #expect(session.endOverdue(Self.start) == .init())
      #expect(session.endOverdue(Self.start.adding(nanoseconds: 9 * Self.second)) == .init())
      #expect(session.endOverdue(Self.start.adding(nanoseconds: 10 * Self.second)).isAmidHeaders)
    }
  }

  @Test("who is found in the middle of another header block each time is only busy")
  func busy() throws {
    let session = try started()
    for number in 0..<20 {
      let stream = UInt32(1 + 2 * number)
      let request = RawFrame.headers(stream, RawFrame.pseudo)
      _ = session.receive(Array(request.dropLast()))
      #expect(session.endOverdue(Self.start.adding(nanoseconds: Int64(number) * Self.second)) == .init())
      _ = session.receive([request[request.count - 1]])
      for request in session.takeRequests() { session.respond(to: request, with: HTTP2Response(status: 200)) }
      _ = session.output()
    }
  }

  @Test("what follows of a header block whose stream was reset goes nowhere")
  func restOfHeaders() throws {
    let session = try started()
    let begun = RawFrame.pseudo + [("apns-topic", "com.example.first")]
    _ = session.receive(RawFrame.headers(1, begun, flags: 0))
    _ = session.endOverdue(Self.start)
    #expect(session.endOverdue(Self.start.adding(nanoseconds: 30 * Self.second)).streams == 1)
    #expect(resets(session) == [[1, 11]])
    #expect(session.openStreams == 0)
    let rest = RawFrame.block([("apns-id", "1"), ("apns-priority", "5")])
    #expect(session.receive(RawFrame.continuation(1, rest, isLast: true)) == .taken)
    #expect(session.takeRequests().isEmpty)
    _ = session.receive(RawFrame.headers(3, RawFrame.pseudo + [("apns-topic", "com.example.second")]))
    let request = try #require(session.takeRequests().first)
    #expect(request.message.text(.apnsTopic) == "com.example.second")
    #expect(request.message.text(.apnsId) == nil && request.message.text(.apnsPriority) == nil)
  }

  @Test("half-open streams are counted with their bodies, and nothing is left of them when they are gone")
  func heldBytes() throws {
    let session = try started()
    func requests(_ streams: Range<UInt32>) {
      for stream in streams where stream % 2 == 1 {
        _ = session.receive(RawFrame.headers(stream, RawFrame.pseudo, flags: RawFrame.endHeaders))
        _ = session.receive(RawFrame.data(stream, [UInt8](repeating: 0x20, count: 5000), isLast: false))
        _ = session.output()
      }
    }
    let few: UInt32 = 20
    requests(1..<2 * few)
    for stream in 0..<few { _ = session.receive(RawFrame.reset(1 + 2 * stream, 8)) }
    let before = session.heldBytes
    requests(101..<1101)
    #expect(session.openStreams == 500)
    #expect(session.heldBytes - before >= 500 * 5000)
    for stream in 0..<UInt32(500) { _ = session.receive(RawFrame.reset(101 + 2 * stream, 8)) }
    _ = session.output()
    #expect(session.openStreams == 0)
    // What waits for use again: at most 128 requests, each with little.
    #expect(session.heldBytes - before <= 128 * (768 + 4096))
  }

  @Test("an answer that waits for its client is counted with its body")
  func heldAnswer() throws {
    let session = try started()
    _ = session.receive(RawFrame.headers(1, RawFrame.pseudo))
    let request = try #require(session.takeRequests().first)
    let (before, count) = (session.heldBytes, 500_000)
    session.respond(
      to: request, with: HTTP2Response(status: 200, body: [UInt8](repeating: 0x20, count: count)))
    #expect(session.heldBytes - before >= count)
  }
}
