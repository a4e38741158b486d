import Basics
import Faults
import Platform
import Testing

import Emulator
import Transport

extension LiveTests {
  @Suite("Provider API, connections")
  struct ProviderConnectionTests {
    // `Documentation/provider-api.md#connection`
    private static let oneStream =
      "00001e040000000000000100001000000300000001" + "00040000ffff000500004000000600001f40"
    private static let thousandStreams =
      "00001e0400000000000001000010000003000003e8" + "00040000ffff000500004000000600001f40"
    private static let limitToThousand = "000006040000000000" + "0003000003e8"

    @Test("a client without a certificate may open one stream, and 1000 once it has shown a valid token")
    func tokenStreams() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness)
      client.open()
      #expect(client.frames.first?.hex == Self.oneStream)
      #expect(client.session.peerMaximumConcurrentStreams == 1)
      let refused = try client.answer(.push(token.hex, authorization: "bearer nonsense"))
      #expect(refused.status == 403 && client.session.peerMaximumConcurrentStreams == 1)
      let answer = try client.answer(.push(token.hex, authorization: harness.bearer()))
      #expect(answer.status == 200 && client.session.peerMaximumConcurrentStreams == 1000)
      let settings = client.frames.filter(\.isSettings)
      #expect(settings.count == 2)
      // Before the answer, so that the client need not wait for the next one.
      let update = client.frames.lastIndex { $0.isSettings }
      let headers = client.frames.lastIndex { $0.type == 1 }
      #expect(try #require(update) < #require(headers))
      #expect([Self.limitToThousand, Self.thousandStreams].contains(settings[1].hex))
    }

    @Test("a valid token opens the streams also when the push itself is refused")
    func tokenWithBadPush() throws {
      let harness = try EmulatorHarness()
      let client = try HTTP2Client(harness)
      let answer = try client.answer(.push("zz", authorization: harness.bearer()))
      #expect(answer.text == #"{"reason":"BadDeviceToken"}"#)
      harness.turn(until: "the limit is raised") { client.session.peerMaximumConcurrentStreams == 1000 }
    }

    @Test("a client with a certificate may open 1000 streams at once")
    func certificateStreams() throws {
      let harness = try EmulatorHarness()
      let client = try HTTP2Client(harness, .app())
      client.open()
      #expect(client.frames.first?.hex == Self.thousandStreams)
    }

    @Test(
      "rejections lower the limit to one stream, and the next accepted push raises it, where that is switched on"
    )
    func throttle() throws {
      let harness = try EmulatorHarness { $0.provider.throttlesRejections = true }
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness, .app())
      #expect(try client.answer(.push(token.hex)).status == 200)
      #expect(try client.answer(.push("zz")).status == 400)
      harness.turn(until: "the limit falls") { client.session.peerMaximumConcurrentStreams == 1 }
      #expect(try client.answer(.push(token.hex)).status == 200)
      harness.turn(until: "the limit rises") { client.session.peerMaximumConcurrentStreams == 1000 }
    }

    @Test("a thousand requests at once get a thousand answers")
    func manyStreams() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness, .app())
      client.open()
      for _ in 0..<1000 { client.send(.push(token.hex)) }
      harness.turn(until: "all are answered") { client.answers.count == 1000 }
      #expect(client.answers.values.allSatisfy { $0.status == 200 } && client.resets.isEmpty)
    }

    @Test(
      "a certificate of the other environment gets SETTINGS, GOAWAY and the end", arguments: [["h2"], []])
    func otherEnvironment(alpn: [String]) throws {
      let harness = try EmulatorHarness()
      let cases: [(ClientCertificate, String?)] = [
        (try .sandbox(), "api.push.apple.com"), (try .production(), "api.sandbox.push.apple.com"),
        (try .production(), nil),
      ]
      for (certificate, name) in cases {
        let client = try HTTP2Client(harness, certificate, serverName: name, alpn: alpn)
        harness.turn(until: "the connection ends") { client.recorder.hasEnded }
        #expect(client.recorder.sawClose)
        #expect(client.frames.first?.hex == Self.thousandStreams)
        // `Documentation/provider-api.md#environment-mismatch`
        #expect(
          client.frames.filter(\.isGoAway).map(\.hex) == [
            "00002e0700000000000000000000000000"
              + "7b22726561736f6e223a224261644365727469666963617465456e7669726f6e6d656e74227d"
          ])
      }
    }

    @Test("a client that offers no protocol name and begins with the preface is served")
    func noALPN() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness, alpn: [])
      #expect(try client.answer(.push(token.hex, authorization: harness.bearer())).status == 200)
      #expect(client.connection.alpn == nil)
      let withCertificate = try HTTP2Client(harness, .app(), alpn: [])
      #expect(try withCertificate.answer(.push(token.hex)).status == 200)
    }

    @Test(
      "a client of HTTP/1 is told so in its language, one that agreed on HTTP/2 in a GOAWAY, others in text",
      arguments: [["h2"], []])
    func otherProtocols(alpn: [String]) throws {
      let harness = try EmulatorHarness()
      let request = "POST /3/device/00 HTTP/1.1\r\nHost: localhost\r\n\r\n"
      let sentence = "HTTP/2 client preface string "
      for (greeting, plainHead) in [(request, "HTTP/1.1 505 "), ("\u{0}hello", sentence)] {
        let head = alpn.isEmpty ? plainHead : sentence
        let recorder = Recorder()
        recorder.onOpened = { $0.send(Array(greeting.utf8)) }
        let connection = try harness.connect(
          "provider", as: recorder, context: harness.context(), alpn: alpn)
        harness.turn(until: "the connection ends") { recorder.hasEnded }
        #expect(recorder.sawClose && connection.isOpen == false)
        let text = String(decoding: recorder.received, as: UTF8.self)
        // With `h2` agreed on, SETTINGS are out before the client says anything.
        let said = alpn.isEmpty ? text[...] : text.drop { $0 != "H" }
        #expect(said.hasPrefix(head), "\(text)")
        let dump = Hex.encode(Array(greeting.utf8).prefix(24))
        #expect(text.contains(dump) && text.contains("console"), "\(text)")
      }
    }

    @Test(
      "the TLS layer refuses a bad certificate, also of a client that is already sending",
      arguments: [true, false])
    func badCertificates(sendsAtOnce: Bool) throws {
      let harness = try EmulatorHarness()
      let foreign = try ClientCertificate.foreign(by: ClientCertificate.ca(), name: "foreign")
      let cases: [(ClientCertificate, String)] = [
        (try .expired(), "certificate expired"), (try .notYetValid(), "bad certificate"),
        (foreign, "unknown ca"),
      ]
      for (certificate, alert) in cases {
        let client = try HTTP2Client(harness, certificate)
        // With TLS 1.3 a client is done before the server has judged its certificate.
        if sendsAtOnce {
          client.recorder.onOpened = { $0.send([UInt8](repeating: 0, count: 4 << 20)) }
        }
        harness.turn(until: "the connection ends") { client.recorder.hasEnded }
        #expect(client.recorder.endReason?.contains(alert) == true, "\(client.recorder.endReason ?? "")")
        #expect(client.recorder.received.isEmpty)
      }
    }

    @Test("TLS 1.2 and 1.3 are served, 1.1 is not")
    func versions() throws {
      let harness = try EmulatorHarness()
      for (version, name) in [(TLSPolicy.Version.tls12, "TLSv1.2"), (.tls13, "TLSv1.3")] {
        let recorder = Recorder()
        let connection = try harness.connect(
          "provider", as: recorder, context: harness.context(from: version, to: version), alpn: ["h2"])
        harness.turn(until: "TLS is up") { recorder.hasOpened }
        #expect(connection.tlsVersion == name && connection.alpn == "h2")
      }
      let old = Recorder()
      _ = try harness.connect(
        "provider", as: old, context: harness.context(from: .tls10, to: .tls11, oldCiphers: true),
        alpn: ["h2"])
      harness.turn(until: "the handshake fails") { old.hasEnded }
      #expect(!old.hasOpened && old.endReason?.contains("protocol version") == true)
    }

    @Test("shutting down says GOAWAY with its reason to everybody, and answers what had come")
    func shutdown() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let idle = try HTTP2Client(harness)
      let busy = try HTTP2Client(harness, .app())
      idle.open()
      busy.open()
      let numbers = (0..<100).map { _ in busy.send(.push(token.hex)) }
      harness.turn(until: "they are accepted") { harness.broker.counters.accepted == 100 }
      harness.stop()
      for client in [idle, busy] {
        #expect(client.recorder.sawClose)
        let goAway = try #require(client.session.peerGoAway)
        #expect(goAway.errorCode == .noError)
        #expect(String(decoding: goAway.debugData, as: UTF8.self) == #"{"reason":"Shutdown"}"#)
      }
      #expect(numbers.allSatisfy { busy.answers[$0]?.status == 200 })
      #expect(idle.session.peerGoAway?.lastStreamID == 0)
    }

    @Test("an idle connection ends with IdleTimeout where the operator sets a limit, and never otherwise")
    func idle() throws {
      for limit in [60, nil] as [Int64?] {
        let harness = try EmulatorHarness { $0.provider.idleSeconds = limit }
        let client = try HTTP2Client(harness, .app())
        client.open()
        // The emulator's clock says nothing about how long somebody was silent.
        harness.clock.advance(nanoseconds: 86_400 * 1_000_000_000)
        harness.emulator.provider.endIdle(now: SystemClock.now().adding(seconds: 59))
        harness.settle()
        #expect(!client.recorder.hasEnded)
        harness.clock.advance(nanoseconds: -2 * 86_400 * 1_000_000_000)
        harness.emulator.provider.endIdle(now: SystemClock.now().adding(seconds: 86_400))
        guard limit != nil else {
          harness.settle()
          #expect(!client.recorder.hasEnded)
          continue
        }
        harness.turn(until: "it ends") { client.recorder.hasEnded }
        let reason = client.session.peerGoAway.map { String(decoding: $0.debugData, as: UTF8.self) }
        #expect(client.recorder.sawClose && reason == #"{"reason":"IdleTimeout"}"#)
      }
    }

    @Test(
      "a request that never ends holds its connection only for a while after GOAWAY",
      arguments: [true, false])
    func neverEnds(isOver: Bool) throws {
      let harness = try EmulatorHarness {
        $0.provider.idleSeconds = 60
        $0.provider.goAwayTimeout = isOver ? 0 : .max
      }
      let client = try HTTP2Client(harness, .app())
      client.open()
      // HEADERS without END_STREAM: method POST and scheme https of the static table, an authority and a path.
      client.connection.send(bytes("000011 01 04 00000001 83 87 4101 61 440a 2f332f6465766963652f"))
      harness.turn(until: "the request is open") { harness.emulator.provider.openStreams == 1 }
      harness.emulator.provider.endIdle(now: SystemClock.now().adding(seconds: 62))
      harness.turn(until: "GOAWAY is here") { client.session.peerGoAway != nil }
      for _ in 0..<3 { harness.emulator.provider.endIdle() }
      harness.settle()
      #expect(client.recorder.sawClose == isOver)
      #expect(client.frames.filter(\.isGoAway).count == 1, "it is said once")
    }

    @Test(
      "a request that never ends holds its connection only for a while after one stream too many",
      arguments: [true, false])
    func neverEndsAfterViolation(isOver: Bool) throws {
      let harness = try EmulatorHarness { $0.provider.goAwayTimeout = isOver ? 0 : .max }
      let client = try HTTP2Client(harness)
      #expect(try client.answer(.push("zz")).status == 403)
      // The same on two streams, where one is allowed (`Documentation/provider-api.md#connection`).
      for stream in ["00000003", "00000005"] {
        client.connection.send(bytes("000011 01 04 \(stream) 83 87 0101 61 040a 2f332f6465766963652f"))
      }
      // The client's own session knows nothing of these streams, so it can't follow.
      harness.turn(until: "GOAWAY is here") { client.frames.contains(where: \.isGoAway) }
      for _ in 0..<3 { harness.emulator.provider.endIdle() }
      harness.settle()
      #expect(client.recorder.sawClose == isOver)
    }

    @Test("a delayed reset that is due at the end of a connection is that end")
    func resetAtTheEnd() throws {
      let harness = try EmulatorHarness { $0.provider.goAwayTimeout = 0 }
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness, .app())
      client.open()
      var (late, leaving) = (FaultEffects(), FaultEffects())
      (late.delay, late.resetsConnection) = (.init(milliseconds: 3_600_000), true)
      leaving.goAway = .init()
      for (name, effects) in [("late", late), ("leaving", leaving)] {
        harness.emulator.faultEngine.set(FaultRule(name: name, schedule: .next(1), effects: effects))
        client.send(.push(token.hex))
        harness.turn(until: "the fault is injected") {
          harness.emulator.faultEngine.rules.allSatisfy { $0.hits == 1 }
        }
      }
      harness.turn(until: "GOAWAY is here") { client.session.peerGoAway != nil }
      harness.emulator.provider.endIdle()
      #expect(harness.connections("provider").isEmpty)
      harness.turn(until: "the client knows") { client.recorder.hasEnded }
      #expect(!client.recorder.sawClose)
    }

    @Test("a client that does not read its answers costs a bounded number of bytes")
    func neverReads() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let client = try HTTP2Client(harness, .app())
      client.open()
      let served = try #require(harness.connections("provider").first)
      served.setSendBuffer(4096)
      client.connection.setPaused(true)
      var most = 0
      // PINGs ask for an answer each and are not limited by the number of streams.
      let ping = bytes("000008 06 00 00000000 0102030405060708")
      for _ in 0..<200 {
        client.connection.send((0..<500).flatMap { _ in ping })
        client.send(.push(token.hex))
        harness.loop.runTurn(wait: false)
        most = max(most, served.queuedBytes)
      }
      #expect(most < 1 << 20, "\(most)")
    }
  }
}
