import Basics
import Testing

import Transport

@Suite("HTTP/2 stream limit")
struct HTTP2StreamLimitTests {
  private func session(streams: Int) throws -> HTTP2ServerSession {
    try #require(HTTP2ServerSession(options: HTTP2Options(streams: streams)))
  }

  /// HEADERS of requests without END_STREAM: they stay open.
  private func open(_ streams: [UInt32]) -> [UInt8] {
    streams.flatMap { RawFrame.headers($0, RawFrame.pseudo, flags: RawFrame.endHeaders) }
  }

  @Test("does not bind a client that has not acknowledged the first SETTINGS")
  func early() throws {
    let session = try session(streams: 1)
    _ = session.receive(RawFrame.preface + RawFrame.settings + open([1, 3, 5]))
    _ = session.receive(RawFrame.data(1, [1]) + RawFrame.data(3, [1]) + RawFrame.data(5, [1]))
    #expect(session.takeRequests().map(\.streamID) == [1, 3, 5])
  }

  @Test("tells how many streams were open at a time, and how many beyond what the client had acknowledged")
  func counts() throws {
    let session = try session(streams: 2)
    _ = session.receive(RawFrame.preface + RawFrame.settings + open([1, 3, 5]))
    #expect(session.mostStreams == 3 && session.limitViolations == 0, "it can't know the limit yet")
    let other = try self.session(streams: 2)
    _ = other.receive(RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement + open([1, 3]))
    #expect(other.mostStreams == 2 && other.limitViolations == 0)
    _ = other.receive(open([5]))
    #expect(other.limitViolations == 1)
  }

  @Test("tells how many streams were opened after a GOAWAY, before it has left and behind that")
  func afterGoAway() throws {
    let session = try session(streams: 100)
    _ = session.receive(RawFrame.preface + RawFrame.settings + open([1, 3, 5]))
    #expect(session.streamsAfterGoAway == 0)
    session.goAway(.noError)
    #expect(session.streamsAfterGoAway == 0)
    _ = session.receive(open([7]))
    #expect(session.streamsAfterGoAway == 1)
    _ = session.output()
    _ = session.receive(open([9, 2001]))
    #expect(session.streamsAfterGoAway == 3)
  }

  /// `Documentation/provider-api.md#settings`.
  @Test("ends the connection over an acknowledged limit, in Apple's words")
  func violated() throws {
    let session = try session(streams: 1)
    _ = session.receive(
      RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement
        + RawFrame.headers(1, RawFrame.pseudo) + RawFrame.headers(3, RawFrame.pseudo))
    let requests = session.takeRequests()
    #expect(requests.map(\.streamID) == [1])
    let frames = ReadFrame.all(session.output())
    #expect(frames.contains(ReadFrame(type: 3, flags: 0, stream: 3, payload: [0, 0, 0, 7])))
    let text = Array("Maximum active streams violated for this endpoint.".utf8)
    let goAway = ReadFrame(type: 7, flags: 0, stream: 0, payload: [0, 0, 0, 1, 0, 0, 0, 7] + text)
    #expect(frames.filter { $0.type == 7 } == [goAway])
    #expect(!session.isFinished)
    for request in requests { session.respond(to: request, with: HTTP2Response(status: 200)) }
    #expect(ReadFrame.all(session.output()).contains { $0.type == 1 && $0.stream == 1 })
    #expect(session.isFinished)
  }

  @Test("ends the connection over the highest limit in the same words, once")
  func violatedCeiling() throws {
    let session = try session(streams: 1000)
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement)
    _ = session.receive(open((0..<1500).map { 2 * $0 + 1 }))
    let goAways = ReadFrame.all(session.output()).filter { $0.type == 7 }
    let text = Array(HTTP2ServerSession.streamsViolatedText.utf8)
    #expect(goAways.map(\.payload) == [RawFrame.word(1999) + RawFrame.word(7) + text])
    #expect(session.openStreams == 1000)
  }

  @Test("leaves a client that goes on opening streams and reads nothing to nghttp2, which ends it")
  func violatedForLong() throws {
    let session = try session(streams: 1)
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement)
    _ = session.receive(open((0..<10_000).map { 2 * $0 + 1 }))
    #expect(session.openStreams <= 2 * session.options.streamCeiling)
    _ = session.output()
    #expect(session.isFinished)
  }

  @Test("is raised from 1 to 1000 with Apple's bytes, and holds at once")
  func raised() throws {
    let session = try session(streams: 1)
    _ = session.output()
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement)
    _ = session.output()
    session.setMaximumConcurrentStreams(1000)
    session.setMaximumConcurrentStreams(1000)
    #expect(
      Hex.encode(session.output())
        == "00001e0400000000000001000010000003000003e800040000ffff000500004000000600001f40")
    _ = session.receive(open((0..<1000).map { 2 * $0 + 1 }))
    #expect(session.openStreams == 1000)
    #expect(session.output().isEmpty)
  }

  @Test("is announced behind an acknowledgement that has yet to leave")
  func behindAcknowledgement() throws {
    let session = try session(streams: 1)
    _ = session.output()
    _ = session.receive(RawFrame.preface + RawFrame.settings)
    session.setMaximumConcurrentStreams(7)
    let frames = ReadFrame.all(session.output())
    #expect(frames.map(\.type) == [4, 4] && frames.map(\.flags) == [1, 0])
    #expect(frames.last.map { Hex.encode($0.payload) }?.hasPrefix("000100001000000300000007") == true)
  }

  @Test("refuses streams that cross a lowered limit, and keeps the connection")
  func lowered() throws {
    let session = try session(streams: 1000)
    _ = session.receive(
      RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement + open([1, 3]))
    session.setMaximumConcurrentStreams(1)
    _ = session.output()
    _ = session.receive(open([5]) + RawFrame.data(5, [1]))
    let frames = ReadFrame.all(session.output())
    #expect(frames == [ReadFrame(type: 3, flags: 0, stream: 5, payload: [0, 0, 0, 7])])
    _ = session.receive(RawFrame.data(1, [1]) + RawFrame.data(3, [1]))
    #expect(session.takeRequests().map(\.streamID) == [1, 3])
  }

  @Test("lets a client that follows the announced limits never see a refusal")
  func followed() throws {
    let pair = try HTTP2Pair(HTTP2Options(streams: 1))
    pair.exchange()
    for context in 0..<50 { pair.submit(context: context) }
    pair.exchange { _ in
      pair.server.setMaximumConcurrentStreams(pair.server.maximumConcurrentStreams + 1)
      return HTTP2Response(status: 200)
    }
    #expect(pair.outcomes().values.map(\.status) == [Int?](repeating: 200, count: 50))
    #expect(pair.server.maximumConcurrentStreams == 51)
    // Nothing is open when a limit is lowered, so nothing crosses it.
    for limit in [1000, 1, 3] {
      pair.server.setMaximumConcurrentStreams(limit)
      pair.exchange()
      for context in 0..<20 { pair.submit(context: context) }
      pair.exchange { _ in HTTP2Response(status: 200) }
      #expect(pair.outcomes().values.map(\.status) == [Int?](repeating: 200, count: 20), "\(limit)")
    }
    #expect(pair.client.peerGoAway == nil)
  }

  @Test("keeps a client that acknowledges nothing from piling up announcements")
  func unacknowledged() throws {
    let session = try session(streams: 1)
    _ = session.receive(RawFrame.preface + RawFrame.settings)
    for round in 0..<1000 { session.setMaximumConcurrentStreams(round % 2 == 0 ? 1000 : 1) }
    #expect(ReadFrame.all(session.output()).filter { $0.type == 4 && $0.flags == 0 }.count == 2)
    #expect(session.maximumConcurrentStreams == 1)
    _ = session.receive(RawFrame.settingsAcknowledgement)
    let next = ReadFrame.all(session.output())
    #expect(next.map(\.type) == [4])
    #expect(Hex.encode(next[0].payload).hasPrefix("000100001000000300000001"))
  }

  @Test("counts acknowledgements from the oldest announcement")
  func order() {
    var limit = HTTP2StreamLimit(initial: 1, ceiling: 1000)
    func acknowledge() -> Int? { limit.acknowledge() }
    func set(_ value: Int) -> Bool { limit.set(value) }
    #expect(limit.verdict(open: 1000) == .accepted)
    #expect(acknowledge() == nil)
    #expect(limit.verdict(open: 1) == .accepted)
    #expect(limit.verdict(open: 2) == .violated)
    #expect(set(1000))
    #expect(limit.verdict(open: 2) == .accepted)
    #expect(set(1))
    #expect(limit.verdict(open: 2) == .refused)
    #expect(!set(500))
    #expect(acknowledge() == 500)
    #expect(limit.verdict(open: 500) == .accepted)
    #expect(limit.verdict(open: 501) == .refused)
    #expect(acknowledge() == nil)
    #expect(acknowledge() == nil)
    #expect(limit.verdict(open: 501) == .violated)
  }
}
