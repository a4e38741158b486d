import PushModel
import Testing

@testable import Transport

@Suite("HTTP/2 connection control")
struct HTTP2ControlTests {
  private let wrongEnvironment = Array(#"{"reason":"BadCertificateEnvironment"}"#.utf8)

  @Test("says goodbye for a wrong environment with Apple's bytes (C.4)")
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

  @Test("drains: the notice refuses nothing, the end comes when all is answered")
  func drain() throws {
    let pair = try HTTP2Pair()
    pair.exchange()
    pair.submit(context: 1)
    pair.clientToServer()
    let first = pair.server.takeRequests()
    pair.server.shutdownNotice()
    pair.serverToClient()
    #expect(pair.client.peerGoAway?.lastStreamID == .max)
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

  @Test("counts its own PINGs and hears their answers")
  func ping() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings)
    _ = session.output()
    #expect(session.ping())
    #expect(ReadFrame.all(session.output()).map(\.type) == [6])
    _ = session.receive(RawFrame.ping(1) + RawFrame.ping(1))
    var answers = 0
    while let event = session.nextEvent() {
      if case .pingAcknowledged = event { answers += 1 }
    }
    #expect(answers == 1)
    for _ in 0..<HTTP2Options.maximumUnansweredPings { #expect(session.ping()) }
    #expect(!session.ping())
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
