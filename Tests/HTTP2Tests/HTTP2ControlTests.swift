import Basics
import PushModel
import Testing

import Transport

@Suite("HTTP/2 connection control")
struct HTTP2ControlTests {
  private let wrongEnvironment = Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8)

  /// `Documentation/provider-api.md#environment-mismatch`.
  @Test("says goodbye for a wrong environment with Apple's bytes")
  func badCertificateEnvironment() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.output()
    session.goAway(.noError, lastStreamID: 0, debugData: wrongEnvironment)
    let expected =
      "00002e070000000000" + "00000000" + "00000000"
      + "7b22726561736f6e223a224261644365727469666963617465456e7669726f6e6d656e74227d"
    #expect(Hex.encode(session.output()) == expected)
    #expect(session.isFinished)
  }

  @Test("tells a client the reason, and that none of its requests was served")
  func clientSees() throws {
    let pair = try HTTP2Pair()
    pair.submit()
    pair.server.goAway(.noError, lastStreamID: 0, debugData: wrongEnvironment)
    pair.exchange { _ in HTTP2Response(status: 200) }
    #expect(
      pair.client.peerGoAway
        == HTTP2GoAway(lastStreamID: 0, errorCode: .noError, debugData: wrongEnvironment))
    #expect(pair.outcomes()[0] == .reset(.refusedStream))
  }

  @Test("drains: after the last stream is named, the end comes when all is answered")
  func drain() throws {
    let pair = try HTTP2Pair()
    pair.exchange()
    pair.submit(context: 1)
    pair.clientToServer()
    let first = pair.server.takeRequests()
    pair.server.goAway(debugData: Array(#"{"reason":"Shutdown"}"#.utf8))
    pair.serverToClient()
    #expect(pair.client.peerGoAway?.lastStreamID == 1)
    #expect(!pair.server.isFinished)
    for request in first { pair.server.respond(to: request, with: HTTP2Response(status: 200)) }
    pair.serverToClient()
    #expect(pair.server.isFinished)
    #expect(pair.outcomes()[1]?.status == 200)
    let isTaken = pair.client.submit(pair.head, path: "/", body: [])
    #expect(!isTaken)
  }

  @Test("gives every request of a client an outcome when a GOAWAY comes amid them")
  func goAwayMidBurst() throws {
    let pair = try HTTP2Pair(HTTP2Options(streams: 3))
    pair.exchange()
    for context in 0..<20 { pair.submit(context: context) }
    var served: Set<Int32> = []
    pair.exchange { request in
      served.insert(request.streamID)
      if served.count == 5 { pair.server.goAway(debugData: Array(#"{"reason":"Shutdown"}"#.utf8)) }
      return HTTP2Response(status: 200)
    }
    let outcomes = pair.outcomes()
    #expect(outcomes.count == 20)
    #expect(outcomes.values.filter { $0.status == 200 }.count == served.count)
    #expect(served.count >= 5 && served.count < 20)
    #expect(pair.server.isFinished && pair.client.openStreams == 0)
  }

  @Test("serves nothing above the last stream of a GOAWAY that has yet to leave")
  func goAwayNotSent() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.headers(1, RawFrame.pseudo))
    session.goAway(debugData: wrongEnvironment)
    session.goAway(debugData: wrongEnvironment)
    _ = session.receive(RawFrame.headers(3, RawFrame.pseudo))
    #expect(session.takeRequests().map(\.streamID) == [1])
    let goAways = ReadFrame.all(session.output()).filter { $0.type == 7 }
    #expect(goAways.allSatisfy { $0.payload.prefix(4) == [0, 0, 0, 1] })
    #expect(session.openStreams == 1)
  }

  /// RFC 9113 6.8: a server may go on with the streams that its GOAWAY names.
  @Test("stays open behind a GOAWAY that says so: serves the streams it names, and refuses each above")
  func goAwayStaysOpen() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(
      RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement
        + RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders))
    _ = session.output()
    session.goAway(.noError, lastStreamID: 1, debugData: Array("bye".utf8), keepsOpen: true)
    #expect(session.hasOutput)
    #expect(Hex.encode(session.output()) == "00000b070000000000" + "00000001" + "00000000" + "627965")
    for stream: UInt32 in [3, 5] {
      _ = session.receive(RawFrame.headers(stream, RawFrame.pseudo))
      let refusal = ReadFrame(type: 3, flags: 0, stream: stream, payload: [0, 0, 0, 7])
      #expect(ReadFrame.all(session.output()) == [refusal])
    }
    #expect(session.openStreams == 1 && !session.isFinished && session.sentGoAway == nil)
    _ = session.receive(RawFrame.data(1, [1]))
    let requests = session.takeRequests()
    #expect(requests.map(\.streamID) == [1])
    for request in requests { session.respond(to: request, with: HTTP2Response(status: 200)) }
    #expect(ReadFrame.all(session.output()).map(\.type) == [1])
    #expect(session.openStreams == 0 && !session.isFinished)
  }

  @Test("stays open behind a GOAWAY for the streams that it names and that have yet to come")
  func goAwayNamesLater() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.settingsAcknowledgement)
    session.goAway(lastStreamID: 3, keepsOpen: true)
    _ = session.output()
    for stream: UInt32 in [1, 3, 5] { _ = session.receive(RawFrame.headers(stream, RawFrame.pseudo)) }
    #expect(!session.isAmidRequest, "what comes of the last is of no use")
    #expect(session.takeRequests().map(\.streamID) == [1, 3])
    #expect(ReadFrame.all(session.output()).map(\.stream) == [5])
  }

  @Test("knows the GOAWAY that it sent, also one that says nothing more than its code")
  func sentGoAway() throws {
    let session = try #require(HTTP2ServerSession())
    session.goAway(.enhanceYourCalm)
    #expect(session.sentGoAway == nil)
    _ = session.output()
    #expect(session.sentGoAway == HTTP2GoAway(lastStreamID: 0, errorCode: .enhanceYourCalm, debugData: []))
  }

  @Test("ends behind a GOAWAY that left it open with another, which names no higher stream")
  func goAwayAfterAnother() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.headers(1, RawFrame.pseudo))
    _ = session.output()
    session.goAway(lastStreamID: 0, keepsOpen: true)
    session.goAway(keepsOpen: true)
    session.goAway(debugData: wrongEnvironment)
    let goAways = ReadFrame.all(session.output()).filter { $0.type == 7 }
    let zero: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0]
    #expect(goAways.map(\.payload) == [zero + wrongEnvironment], "the last says all")
    #expect(session.isFinished)
  }

  @Test("cuts the debug data of such a GOAWAY to what one frame may have")
  func goAwayTooLong() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.output()
    session.goAway(debugData: [UInt8](repeating: 1, count: 20_000), keepsOpen: true)
    #expect(ReadFrame.all(session.output()).map(\.payload.count) == [16_384])
  }

  @Test("leaves no trace of streams that end between answer and sending")
  func resetBeforeSending() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings)
    _ = session.output()
    var stream: UInt32 = 1
    for _ in 0..<50 {
      _ = session.receive(RawFrame.headers(stream, RawFrame.pseudo))
      for request in session.takeRequests() {
        let id = APNSID(high: UInt64(stream), low: 0)
        session.respond(to: request, with: HTTP2Response(status: 400, apnsID: id, body: [1, 2, 3]))
      }
      // The odd ones are cancelled while their answer waits; the even ones then use the same objects.
      _ = session.receive(stream % 4 == 1 ? RawFrame.reset(stream, 8) : [])
      stream += 2
    }
    let answered = ReadFrame.all(session.output()).filter { $0.type == 0 }.map(\.stream)
    #expect(answered == Array(stride(from: UInt32(3), to: stream, by: 4)))
    #expect(session.openStreams == 0)
  }

  @Test("answers a client's PING with its bytes")
  func pong() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.output()
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.ping())
    let expected = ReadFrame(type: 6, flags: 1, stream: 0, payload: [1, 2, 3, 4, 5, 6, 7, 8])
    #expect(ReadFrame.all(session.output()).contains(expected))
  }

  @Test("remembers the client's GOAWAY")
  func clientLeaves() throws {
    let pair = try HTTP2Pair()
    pair.exchange()
    pair.client.goAway(.noError)
    pair.exchange()
    #expect(pair.server.peerGoAway == HTTP2GoAway(lastStreamID: 0, errorCode: .noError, debugData: []))
  }
}
