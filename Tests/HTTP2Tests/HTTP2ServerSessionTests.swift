import Basics
import PushModel
import Testing

import Transport

@Suite("HTTP/2 server session")
struct HTTP2ServerSessionTests {
  /// `Documentation/provider-api.md#settings`.
  @Test(
    "announces Apple's SETTINGS byte for byte",
    arguments: [
      (
        HTTP2Options(streams: 1),
        "00001e0400000000000001000010000003000000010004" + "0000ffff000500004000000600001f40"
      ),
      (
        HTTP2Options(),
        "00001e0400000000000001000010000003000003e80004" + "0000ffff000500004000000600001f40"
      ),
    ])
  func settings(_ options: HTTP2Options, _ bytes: String) throws {
    let session = try #require(HTTP2ServerSession(options: options))
    #expect(Hex.encode(session.output()) == bytes)
  }

  @Test("hands over one request however the bytes are cut", arguments: [1, 2, 3, 7, 10, 100])
  func cuts(_ chunk: Int) throws {
    let pair = try HTTP2Pair()
    pair.chunk = chunk
    pair.submit()
    var seen: [String] = []
    pair.exchange { request in
      seen = request.message.fields.map { "\($0.name): \($0.value)" }
      #expect(request.body == HTTP2Pair.payload)
      return HTTP2Response(status: 200)
    }
    #expect(seen.contains(":path: \(HTTP2Pair.path)"))
    #expect(seen.contains("apns-topic: com.example.app"))
    #expect(pair.outcomes()[0]?.status == 200)
  }

  @Test("hands over the same request at every split in two")
  func everySplit() throws {
    let bytes =
      RawFrame.preface + RawFrame.settings
      + RawFrame.headers(1, RawFrame.pseudo + [("apns-topic", "com.example.app")], flags: RawFrame.endHeaders)
      + RawFrame.data(1, HTTP2Pair.payload)
    for split in 0...bytes.count {
      let session = try #require(HTTP2ServerSession())
      #expect(session.receive(Array(bytes[..<split])) == .taken)
      #expect(session.receive(Array(bytes[split...])) == .taken)
      let requests = session.takeRequests()
      #expect(requests.count == 1, "split at \(split)")
      #expect(requests.first?.message.text(.apnsTopic) == "com.example.app")
      #expect(requests.first.map { $0.body } == HTTP2Pair.payload)
    }
  }

  @Test("answers 200 with both ids and no body")
  func success() throws {
    let pair = try HTTP2Pair()
    pair.submit()
    let id = try #require(APNSID("11111111-2222-4333-8444-555555555555"))
    let unique = APNSID(high: 0x07C0_F2E2_7CE0_71EC, low: 0xD0D6_E708_9220_F778)
    pair.exchange { _ in HTTP2Response(status: 200, apnsID: id, uniqueID: unique) }
    let fields = [
      ":status: 200", "apns-id: 11111111-2222-4333-8444-555555555555",
      "apns-unique-id: 07C0F2E2-7CE0-71EC-D0D6-E7089220F778",
    ]
    #expect(pair.outcomes()[0] == .answered(200, fields, []))
  }

  /// RFC 7541 6.1, 6.2.1 and 6.2.3: status 200 is entry 8 of the static table, and the newest entry of the dynamic one is 62.
  @Test("names its ids once, and refers to the names afterwards")
  func names() throws {
    let pair = try HTTP2Pair()
    let ids = (0..<3).map { APNSID(high: $0, low: 1) }
    var blocks: [[UInt8]] = []
    for id in ids {
      let before = pair.fromServer.count
      pair.submit()
      pair.exchange { _ in HTTP2Response(status: 200, apnsID: id, uniqueID: id) }
      let fields = [":status: 200", "apns-id: \(id)", "apns-unique-id: \(id)"]
      #expect(pair.outcomes()[0] == .answered(200, fields, []))
      blocks += ReadFrame.all(Array(pair.fromServer[before...])).filter { $0.type == 1 }.map(\.payload)
    }
    try #require(blocks.count == 3)
    #expect(blocks[0].starts(with: [0x88, 0x40]))
    for block in blocks[1...] {
      #expect(block.starts(with: [0x88, 0x1f, 63 - 15]))
      #expect(block.count < blocks[0].count - 10)
    }
  }

  @Test("answers a rejection with its reason as JSON")
  func rejection() throws {
    let pair = try HTTP2Pair()
    pair.submit()
    let body = Array(#"{"reason":"BadDeviceToken"}"#.utf8)
    pair.exchange { _ in HTTP2Response(status: 400, body: body) }
    #expect(pair.outcomes()[0] == .answered(400, [":status: 400", "content-type: application/json"], body))
  }

  @Test("explains a refusal in visible ASCII and at most 400 bytes, each time anew")
  func explanation() throws {
    let pair = try HTTP2Pair()
    let long = String(repeating: "x", count: 500)
    for got in ["é", long, "short"] {
      pair.submit()
      pair.exchange { _ in
        var response = HTTP2Response(status: 400)
        response.explanation = Explanation(rule: "a", expected: "b", got: Phrase(got))
        return response
      }
      let visible = got.replacing("é", with: "??")
      let field = "apns-emulator-explanation: " + "a: expected b, got \(visible)".prefix(400)
      #expect(pair.outcomes()[0] == .answered(400, [":status: 400", field], []))
    }
  }

  @Test("sends further fields, with characters that no field may hold replaced")
  func furtherFields() throws {
    let pair = try HTTP2Pair()
    pair.submit()
    pair.exchange { _ in
      var response = HTTP2Response(status: 403)
      response.fields = [("Apns-Explanation", "got \r\n ü~\u{7f}")]
      return response
    }
    #expect(pair.outcomes()[0] == .answered(403, [":status: 403", "apns-explanation: got ?? ??~?"], []))
  }

  @Test("sends a body longer than the client's window as the window opens")
  func longBody() throws {
    let pair = try HTTP2Pair()
    pair.submit()
    let body = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    pair.exchange { _ in HTTP2Response(status: 200, body: body) }
    guard case .answered(_, _, let received) = pair.outcomes()[0] else {
      Issue.record("no answer")
      return
    }
    #expect(received == body)
  }

  @Test("keeps a body up to its limit and counts the rest")
  func tooLongBody() throws {
    let pair = try HTTP2Pair()
    pair.submit(body: [UInt8](repeating: 7, count: 200_000))
    var (kept, counted) = (0, 0)
    pair.exchange { request in
      (kept, counted) = (request.body.count, request.message.bodyByteCount)
      return HTTP2Response(status: 413)
    }
    #expect(kept == HTTPMessage.requestBodyLimit)
    #expect(counted == 200_000)
  }

  @Test("answers 431 to a header list longer than announced, and serves the next stream")
  func headerList() throws {
    let session = try #require(HTTP2ServerSession())
    let long = String(repeating: "x", count: 4000)
    var bytes = RawFrame.preface + RawFrame.settings
    bytes += RawFrame.headers(1, RawFrame.pseudo + [("a", long), ("b", long)], flags: RawFrame.endHeaders)
    bytes += RawFrame.headers(3, RawFrame.pseudo)
    #expect(session.receive(bytes) == .taken)
    #expect(session.takeRequests().map(\.streamID) == [3])
    let frames = ReadFrame.all(session.output()).filter { $0.stream == 1 }
    #expect(frames.map(\.type) == [1, 3])
    #expect(frames.last?.payload == [0, 0, 0, 0])
  }

  @Test("marks repeated fields, known and unknown ones of APNs")
  func repeated() throws {
    let session = try #require(HTTP2ServerSession())
    let bytes =
      RawFrame.preface + RawFrame.settings
      + RawFrame.headers(1, RawFrame.pseudo + [("apns-priority", "5"), ("apns-priority", "5")])
      + RawFrame.headers(3, RawFrame.pseudo + [("apns-new", "5"), ("apns-new", "6")])
      + RawFrame.headers(5, RawFrame.pseudo + [("cookie", "5"), ("cookie", "6")])
    _ = session.receive(bytes)
    let requests = session.takeRequests()
    #expect(requests.map(\.message.repeated) == [ProviderFieldSet(.apnsPriority), [], []])
    #expect(requests.map(\.message.repeatsUnknownAPNsField) == [false, true, false])
  }

  @Test("ignores trailers")
  func trailers() throws {
    let session = try #require(HTTP2ServerSession())
    let bytes =
      RawFrame.preface + RawFrame.settings
      + RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders)
      + RawFrame.data(1, [1, 2, 3], isLast: false) + RawFrame.headers(1, [("apns-topic", "late")])
    _ = session.receive(bytes)
    let requests = session.takeRequests()
    #expect(requests.count == 1)
    #expect(requests.first?.message.text(.apnsTopic) == nil)
    #expect(requests.first.map { $0.body } == [1, 2, 3])
  }

  @Test("joins CONTINUATION frames")
  func continuation() throws {
    let session = try #require(HTTP2ServerSession())
    let block = RawFrame.block(RawFrame.pseudo + [("apns-topic", "com.example.app")])
    let bytes =
      RawFrame.preface + RawFrame.settings + RawFrame.frame(1, RawFrame.endStream, 1, Array(block[..<5]))
      + RawFrame.continuation(1, Array(block[5..<20]), isLast: false)
      + RawFrame.continuation(1, Array(block[20...]), isLast: true)
    _ = session.receive(bytes)
    #expect(session.takeRequests().first?.message.text(.apnsTopic) == "com.example.app")
  }

  @Test("serves streams one after another with the same objects")
  func reuse() throws {
    let pair = try HTTP2Pair()
    for round in 0..<200 {
      pair.submit(path: "/3/device/\(round)", context: round)
      pair.exchange { request in
        #expect(request.message.text(.path) == "/3/device/\(round)")
        #expect(request.body.count == HTTP2Pair.payload.count)
        return HTTP2Response(status: 200)
      }
      #expect(pair.outcomes()[round]?.status == 200)
      #expect(pair.server.openStreams == 0)
    }
  }

  @Test("gives no answer to a cancelled request, and forgets it once told")
  func cancelled() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.headers(1, RawFrame.pseudo))
    let request = try #require(session.takeRequests().first)
    _ = session.receive(RawFrame.reset(1, 8))
    #expect(request.isCancelled)
    #expect(session.openStreams == 1)
    _ = session.output()
    #expect(!session.respond(to: request, with: HTTP2Response(status: 200)))
    #expect(session.openStreams == 0)
    #expect(session.output().isEmpty)
  }

  @Test("answers a request once")
  func once() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings + RawFrame.headers(1, RawFrame.pseudo))
    let request = try #require(session.takeRequests().first)
    #expect(session.respond(to: request, with: HTTP2Response(status: 200)))
    #expect(!session.respond(to: request, with: HTTP2Response(status: 500)))
    #expect(ReadFrame.all(session.output()).filter { $0.type == 1 }.count == 1)
  }

  @Test("resets a stream with the code asked for")
  func resets() throws {
    let pair = try HTTP2Pair()
    pair.submit()
    pair.clientToServer()
    for request in pair.server.takeRequests() { pair.server.reset(request, .enhanceYourCalm) }
    pair.exchange()
    #expect(pair.outcomes()[0] == .reset(.enhanceYourCalm))
  }

  @Test("stops at the byte budget and goes on later")
  func budget() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.output()
    _ = session.receive(RawFrame.preface + RawFrame.settings)
    for _ in 0..<5 { _ = session.receive(RawFrame.ping()) }
    var bytes = 0
    session.drainOutput(budget: 9) { bytes += $0.count }
    #expect(bytes == 9)
    session.drainOutput(budget: 20) { bytes += $0.count }
    #expect(bytes < 9 + 5 * 17)
    #expect(session.hasOutput)
    session.drainOutput { bytes += $0.count }
    #expect(bytes == 9 + 5 * 17)
    #expect(!session.hasOutput)
  }

  @Test("says whether the rest of a request has yet to come")
  func amidRequest() throws {
    let session = try #require(HTTP2ServerSession())
    _ = session.receive(RawFrame.preface + RawFrame.settings)
    #expect(!session.isAmidRequest)
    _ = session.receive(RawFrame.headers(1, RawFrame.pseudo, flags: RawFrame.endHeaders))
    #expect(session.isAmidRequest)
    _ = session.receive(RawFrame.data(1, [1]))
    #expect(!session.isAmidRequest)
    _ = session.receive(RawFrame.headers(3, RawFrame.pseudo, flags: RawFrame.endHeaders))
    _ = session.receive(RawFrame.reset(3, 8))
    #expect(!session.isAmidRequest)
  }
}
