import Basics
import Testing

import Transport

/// What h2spec asks of frames on streams that take none any more (RFC 9113 5.1, 5.1.1, 6.1); the names begin with its
/// numbers. Where the RFC asks for an error of the stream, one of the connection does as well (5.4.1).
@Suite("HTTP/2 frames on closed streams")
struct HTTP2ClosedStreamTests {
  /// How the bytes reach the session: at once, or byte by byte.
  enum Cut: CaseIterable { case none, bytes }

  /// How many of the requests are answered before the last frame comes.
  enum Answering { case never, before }

  private let open = RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders)
  private let ended = RawFrame.headers(1, RawFrame.pseudo)
  private let cancelled = RawFrame.reset(1, HTTP2ErrorCode.cancel.rawValue)

  private func started() throws -> HTTP2ServerSession {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement)
    _ = session.output()
    return session
  }

  private func feed(_ bytes: [UInt8], to session: HTTP2ServerSession, _ cut: Cut) {
    guard cut == .bytes else { return #expect(session.receive(bytes) == .taken) }
    for byte in bytes { #expect(session.receive([byte]) == .taken) }
  }

  /// Sends `frames`, has the requests answered, sends `last`; answers what the server says to that.
  private func reaction(
    to last: [UInt8], after frames: [UInt8], _ answering: Answering = .never, cut: Cut = .none
  ) throws -> (session: HTTP2ServerSession, frames: [ReadFrame]) {
    let session = try started()
    if answering == .before {
      feed(frames, to: session, cut)
      for request in session.takeRequests() { session.respond(to: request, with: HTTP2Response(status: 200)) }
      _ = session.output()
      #expect(session.openStreams == 0)
      feed(last, to: session, cut)
    } else {
      feed(frames + last, to: session, cut)
    }
    return (session, ReadFrame.all(session.output()))
  }

  private func expectConnectionError(
    _ code: HTTP2ErrorCode, _ result: (session: HTTP2ServerSession, frames: [ReadFrame]),
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let goAways = result.frames.filter { $0.type == 7 }
    #expect(goAways.count == 1, sourceLocation: sourceLocation)
    #expect(result.session.sentGoAway?.errorCode == code, sourceLocation: sourceLocation)
    #expect(result.session.isFinished, sourceLocation: sourceLocation)
    #expect(result.session.lastViolation != nil, sourceLocation: sourceLocation)
  }

  private func expectStreamError(
    _ result: (session: HTTP2ServerSession, frames: [ReadFrame]),
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let reset = ReadFrame(
      type: 3, flags: 0, stream: 1, payload: RawFrame.word(HTTP2ErrorCode.streamClosed.rawValue))
    #expect(result.frames == [reset], sourceLocation: sourceLocation)
    #expect(!result.session.isFinished, sourceLocation: sourceLocation)
    #expect(result.session.receive(RawFrame.headers(3, RawFrame.pseudo)) == .taken)
    #expect(result.session.takeRequests().map(\.streamID) == [3], sourceLocation: sourceLocation)
  }

  @Test("5.1/5: DATA on a stream that its client has ended", arguments: [Answering.never, .before])
  func dataOnHalfClosed(_ answering: Answering) throws {
    expectConnectionError(
      .streamClosed, try reaction(to: RawFrame.data(1, [1, 2, 3, 4]), after: ended, answering))
  }

  @Test("5.1/6: HEADERS on a stream that its client has ended", arguments: [Answering.never, .before])
  func headersOnHalfClosed(_ answering: Answering) throws {
    expectConnectionError(.streamClosed, try reaction(to: ended, after: ended, answering))
  }

  @Test("5.1/8: DATA on a stream that its client has reset", arguments: Cut.allCases)
  func dataAfterReset(_ cut: Cut) throws {
    expectStreamError(
      try reaction(to: RawFrame.data(1, [1, 2, 3, 4]), after: open + cancelled, cut: cut))
  }

  @Test("5.1/9: HEADERS on a stream that its client has reset", arguments: Cut.allCases)
  func headersAfterReset(_ cut: Cut) throws {
    expectStreamError(try reaction(to: ended, after: open + cancelled, cut: cut))
  }

  @Test("5.1/11: DATA on a stream that both sides have ended", arguments: Cut.allCases)
  func dataOnClosed(_ cut: Cut) throws {
    let body = open + RawFrame.data(1, [0x7b, 0x7d])
    expectConnectionError(
      .streamClosed, try reaction(to: RawFrame.data(1, [1, 2, 3, 4]), after: body, .before, cut: cut))
  }

  @Test("5.1/12: HEADERS on a stream that both sides have ended", arguments: Cut.allCases)
  func headersOnClosed(_ cut: Cut) throws {
    expectConnectionError(.streamClosed, try reaction(to: ended, after: ended, .before, cut: cut))
  }

  @Test("5.1.1/2: a stream id below an earlier one", arguments: [Answering.never, .before])
  func streamGoesBackwards(_ answering: Answering) throws {
    let fifth = RawFrame.headers(5, RawFrame.pseudo)
    let result = try reaction(to: RawFrame.headers(3, RawFrame.pseudo), after: fifth, answering)
    expectConnectionError(.protocolError, result)
    #expect(result.session.sentGoAway?.lastStreamID == 5)
  }

  @Test("6.1/2: DATA on a stream that was passed over or has ended", arguments: [UInt32(1), 3])
  func dataOnStreamNotOpen(_ stream: UInt32) throws {
    let third = RawFrame.headers(3, RawFrame.pseudo)
    expectConnectionError(
      .streamClosed, try reaction(to: RawFrame.data(stream, [1, 2, 3, 4]), after: third, .before))
  }

  @Test("a client that has not heard of our reset may go on with the stream (RFC 9113 5.1, closed)")
  func framesCrossReset() throws {
    var options = HTTP2Options(streams: 1)
    options.streamCeiling = 10
    let session = try #require(HTTP2ServerSession(options: options))
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement)
    session.setMaximumConcurrentStreams(2)
    session.setMaximumConcurrentStreams(1)
    _ = session.output()
    let third = RawFrame.headers(3, RawFrame.pseudo, flags: RawFrame.endHeaders)
    _ = session.receive(open + third)
    #expect(ReadFrame.all(session.output()).filter { $0.type == 3 }.map(\.stream) == [3])
    let rest = RawFrame.data(3, [1, 2], isLast: false) + RawFrame.data(3, [3]) + RawFrame.reset(3, 8)
    #expect(session.receive(rest + RawFrame.data(1, [4])) == .taken)
    #expect(session.takeRequests().map(\.streamID) == [1])
    #expect(session.lastViolation == nil)
  }

  @Test("a client that goes on with a stream that it has reset is told once, and then given up")
  func goesOnAfterReset() throws {
    let data = RawFrame.data(1, [1], isLast: false)
    let result = try reaction(to: data + data + data, after: open + cancelled)
    #expect(result.frames.filter { $0.type == 3 }.count == 1)
    expectConnectionError(.streamClosed, result)
  }

  @Test("trailers, padding and priorities are no violation")
  func properFrames() throws {
    let priority = [UInt8](RawFrame.word(0) + [15])
    let trailers = RawFrame.frame(
      1, RawFrame.endHeaders | RawFrame.endStream, 1, RawFrame.block([("a", "b")]))
    let bytes =
      open + RawFrame.frame(0, 8, 1, [2, 0x7b, 0, 0]) + RawFrame.data(1, [0x7d], isLast: false) + trailers
      + RawFrame.frame(2, 0, 1, priority) + RawFrame.frame(8, 0, 1, RawFrame.word(9)) + cancelled
      + RawFrame.headers(3, RawFrame.pseudo)
    for cut in Cut.allCases {
      let session = try started()
      feed(bytes, to: session, cut)
      #expect(session.takeRequests().map(\.streamID) == [1, 3])
      #expect(session.lastViolation == nil)
      #expect(!session.isFinished)
    }
  }

  @Test("a header block that another frame breaks into stays an error of the protocol (RFC 9113 6.10)")
  func brokenBlock() throws {
    let begun = RawFrame.frame(1, RawFrame.endStream, 1, RawFrame.block(RawFrame.pseudo))
    let result = try reaction(to: RawFrame.data(1, [1]), after: begun)
    #expect(result.session.sentGoAway?.errorCode == .protocolError)
    #expect(result.session.isFinished)
  }

  @Test("streams are told apart for as far back as is remembered, whatever is left out between them")
  func longHistory() throws {
    var streams = HTTP2ClientStreams()
    #expect(streams.state(of: 1) == nil)
    streams.open(1, as: .open)
    streams.open(7, as: .ended)
    #expect([1, 3, 5, 7, 9].map { streams.state(of: $0) } == [.open, .unopened, .unopened, .ended, nil])
    streams.set(1, .reset)
    #expect(streams.state(of: 1) == .reset)
    let far = Int32(2 * HTTP2ClientStreams.remembered + 7)
    streams.open(far, as: .open)
    #expect(streams.state(of: 7) == nil)
    #expect(streams.state(of: 9) == .unopened)
    streams.open(.max, as: .open)
    #expect(streams.state(of: far) == nil)
    #expect(streams.state(of: .max - 2) == .unopened)
    #expect(streams.state(of: .max) == .open)
  }
}
