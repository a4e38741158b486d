import Console
import Faults
import LegacyWire
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  @Suite("Verdicts that come later")
  struct LateVerdictTests {
    private let harness: EmulatorHarness
    private let token: DeviceToken
    private let sink: LateSink

    init() throws {
      (harness, sink) = try EmulatorHarness.withLateVerdicts()
      token = try harness.offlineToken()
    }

    // MARK: Frames

    /// A provider that sends frames with the identifiers 1, 2, ….
    @discardableResult
    private func sendFrames(_ count: UInt32) throws -> LegacyClient {
      let provider = try harness.provider()
      provider.send((1...count).flatMap { Frames.full(token, id: $0) })
      return provider
    }

    @Test("an error packet waits for the verdicts on what came before, and names its frame")
    func errorInOrder() throws {
      let provider = try sendFrames(4)
      harness.turn(until: "all are under way") { sink.taken.count == 4 }
      sink.settle(2, .badDeviceToken)
      sink.settle(2)
      sink.settle(1)
      harness.settle()
      #expect(provider.recorder.received.isEmpty, "the first is still under way")
      sink.settle(0)
      #expect(provider.readToEnd() == bytes("080800000003"))
      #expect(sink.undone == [4], "its provider sends it again")
      #expect(sink.discarded.count == 1)
      harness.turn(until: "nobody waits") { harness.emulator.waiters.isEmpty }
    }

    @Test("what is refused at once waits for the verdicts before it")
    func refusedBehind() throws {
      let provider = try harness.provider()
      provider.send(
        Frames.full(token, id: 1) + Frames.full(token, id: 2, payload: []) + Frames.full(token, id: 3))
      harness.turn(until: "the first is under way") { sink.taken.count == 1 }
      harness.settle()
      #expect(provider.recorder.received.isEmpty)
      #expect(sink.seen == [1], "nothing behind an error begins")
      sink.settle(0)
      #expect(provider.readToEnd() == bytes("080400000002"))
    }

    @Test("what is accepted at once behind one that is not waits for its turn to be told")
    func atOnceBehind() throws {
      sink.atOnce = [2]
      let provider = try sendFrames(3)
      harness.turn(until: "two are under way") { sink.taken.count == 2 }
      sink.settle(1, .badDeviceToken)
      harness.settle()
      #expect(provider.recorder.received.isEmpty, "the first is still under way")
      sink.settle(0)
      #expect(provider.readToEnd() == bytes("080800000003"))
    }

    @Test("a provider is not read from while the sink is busy; its frames outlive the process meanwhile")
    func busy() throws {
      sink.isBusy = true
      let provider = try harness.provider()
      let served = try #require(harness.connections("gateway").first)
      let (held, frames) = (served.heldBytes, (1...3).flatMap { Frames.full(token, id: $0) })
      provider.send(frames)
      harness.turn(until: "they wait") { sink.kept.count == 3 }
      #expect(served.isPaused)
      #expect(served.heldBytes >= held + frames.count, "what waits counts as memory")
      provider.send(Frames.full(token, id: 4))
      harness.settle()
      #expect(sink.seen.isEmpty && sink.kept.count == 3)
      sink.goOn()
      harness.turn(until: "all have come") { sink.taken.count == 4 }
      #expect(sink.seen == [1, 2, 3, 4])
      #expect(sink.taken.map(\.ticket.kept) == [1, 2, 3, 0])
      #expect(!served.isPaused && served.heldBytes == held)
    }

    @Test("no more than the window is under way; the next begins when the first is settled")
    func window() throws {
      sink.window.size = 2
      try sendFrames(3)
      harness.turn(until: "the third waits") { sink.kept.count == 1 }
      #expect(sink.seen == [1, 2])
      sink.settle(1)
      #expect(sink.seen == [1, 2], "the window goes by the first")
      sink.settle(0)
      #expect(sink.seen == [1, 2, 3])
    }

    @Test("two frames for one token are not under way at once where the first may be tried again")
    func sameToken() throws {
      sink.window.mayRetry = true
      try sendFrames(2)
      harness.turn(until: "the second waits") { sink.kept.count == 1 }
      #expect(sink.seen == [1])
      sink.settle(0)
      #expect(sink.seen == [1, 2])
    }

    @Test("what was sent goes on without the provider that sent it")
    func providerGoes() throws {
      let provider = try sendFrames(3)
      harness.turn(until: "they are under way") { sink.taken.count == 3 }
      provider.connection.abort("the test says so", reset: true)
      harness.turn(until: "the connection is gone") { harness.connections("gateway").isEmpty }
      sink.settle(1, .badDeviceToken)
      sink.settle(1)
      #expect(!harness.emulator.waiters.isEmpty)
      sink.settle(0)
      #expect(sink.undone == [3])
      #expect(harness.emulator.waiters.isEmpty)
    }

    @Test("what was taken in silence goes on when its connection gives way to others")
    func givesWay() throws {
      sink.window.size = 1
      try sendFrames(3)
      harness.turn(until: "two wait") { sink.kept.count == 2 }
      try #require(harness.connections("gateway").first).evict()
      harness.settle()
      #expect(harness.connections("gateway").isEmpty && sink.kept.count == 2)
      for _ in 1...3 { sink.settle(0) }
      #expect(sink.seen == [1, 2, 3] && sink.kept.isEmpty && harness.emulator.waiters.isEmpty)
    }

    @Test("a provider that goes during the end has heard nothing: what waits stays kept")
    func goesDuringTheEnd() throws {
      sink.window.size = 1
      try sendFrames(3)
      harness.turn(until: "two wait") { sink.kept.count == 2 }
      harness.emulator.gateway.shutDown()
      try #require(harness.connections("gateway").first).abort("the test says so", reset: true)
      #expect(sink.kept.count == 2)
    }

    @Test("a provider that ends its side hears of a rejection that comes later")
    func halfClosed() throws {
      let provider = try harness.provider()
      provider.send(Frames.full(token, id: 7))
      harness.turn(until: "it is under way") { sink.taken.count == 1 }
      provider.connection.endOutput()
      harness.settle()
      #expect(!provider.recorder.hasEnded)
      sink.settle(0, .badDeviceToken)
      #expect(provider.readToEnd() == bytes("080800000007"))
    }

    @Test("the orderly end waits for verdicts, and says how far the provider got")
    func shutDown() throws {
      sink.window.size = 2
      let provider = try sendFrames(3)
      harness.turn(until: "the third waits") { sink.kept.count == 1 }
      harness.emulator.gateway.shutDown()
      #expect(sink.kept.count == 1, "its provider may not have heard yet")
      harness.settle()
      #expect(provider.recorder.received.isEmpty)
      sink.settle(0)
      sink.settle(0)
      #expect(provider.readToEnd() == bytes("080a00000002"))
      #expect(sink.seen == [1, 2], "the third is thrown away")
      harness.turn(until: "it is not kept any more") { sink.kept.isEmpty }
    }

    private func delay(milliseconds: Int64, _ schedule: FaultSchedule) {
      var effects = FaultEffects()
      effects.delay = .init(milliseconds: milliseconds)
      harness.emulator.faultEngine.set(FaultRule(name: "slow", schedule: schedule, effects: effects))
    }

    @Test("what a fault delays is submitted when the delay is over, and nothing overtakes it")
    func delayed() throws {
      delay(milliseconds: 30, .next(1))
      try sendFrames(2)
      harness.turn(until: "both wait") { sink.kept.count == 2 }
      #expect(sink.seen.isEmpty)
      harness.turn(until: "both are under way") { sink.taken.count == 2 }
      #expect(sink.seen == [1, 2])
    }

    @Test("a push that a fault has dealt with is not kept while its connection goes on")
    func magicDelay() throws {
      let provider = try harness.provider()
      provider.send(Frames.full(try #require(MagicToken.make("delay=20")), id: 1))
      harness.turn(until: "it waits") { sink.kept.count == 1 }
      harness.turn(until: "it is accepted") { harness.broker.counters.accepted == 1 }
      #expect(sink.kept.isEmpty && sink.seen.isEmpty)
      #expect(harness.connections("gateway").count == 1 && !provider.recorder.hasEnded)
    }

    @Test("a delayed push that is refused in the end is kept until its provider may have heard of it")
    func refusedAfterDelay() throws {
      var effects = FaultEffects()
      (effects.delay, effects.reason) = (.init(milliseconds: 20), .tooManyRequests)
      var rule = FaultRule(name: "late", schedule: .always, effects: effects)
      rule.match.token = Frames.unknownToken
      harness.emulator.faultEngine.set(rule)
      let provider = try sendFrames(1)
      provider.send(Frames.full(try #require(DeviceToken(bytes: Frames.unknownToken)), id: 2))
      harness.turn(until: "the second waits") { sink.kept.count == 1 }
      harness.turn(until: "it is refused") { harness.broker.counters.rejected == 1 }
      #expect(sink.kept.count == 1 && provider.recorder.received.isEmpty, "the first is under way")
      sink.settle(0)
      #expect(provider.readToEnd().suffix(4) == bytes("00000002"))
      harness.turn(until: "it is not kept any more") { sink.kept.isEmpty }
    }

    @Test(
      "at the end what is delayed is submitted at once, whether its provider is there or not",
      arguments: [true, false])
    func delayedAtTheEnd(isThere: Bool) throws {
      delay(milliseconds: 3_600_000, .always)
      let provider = try sendFrames(3)
      harness.turn(until: "they wait") { sink.kept.count == 3 }
      if !isThere {
        try #require(harness.connections("gateway").first).abort("the test says so", reset: true)
      }
      harness.emulator.stop()
      #expect(sink.seen == [1, 2, 3])
      for _ in 1...3 { sink.settle(0) }
      if isThere { #expect(provider.readToEnd() == bytes("080a00000003")) }
      harness.turn(until: "nobody waits") { harness.emulator.waiters.isEmpty }
    }

    // MARK: HTTP

    private func openClient() throws -> HTTP2Client {
      let client = try HTTP2Client(harness, .app())
      client.open()
      return client
    }

    @Test("streams are answered as their verdicts come")
    func streams() throws {
      let client = try openClient()
      let ids = (1...3).map { _ in client.send(.push(token.hex)) }
      harness.turn(until: "all are under way") { sink.taken.count == 3 }
      #expect(client.answers.isEmpty)
      sink.settle(1, .unregistered)
      harness.turn(until: "the second is answered") { client.answers[ids[1]] != nil }
      #expect(client.answers[ids[1]]?.status == 410 && client.answers.count == 1)
      sink.settle(0)
      sink.settle(0)
      harness.turn(until: "all are answered") { client.answers.count == 3 }
      #expect(ids.map { client.answers[$0]?.status } == [200, 410, 200])
      #expect(harness.emulator.waiters.isEmpty)
    }

    @Test("a verdict on a stream that was cancelled, or whose connection has gone, is for nobody")
    func cancelled() throws {
      let client = try openClient()
      let cancelled = client.send(.push(token.hex))
      let kept = client.send(.push(token.hex))
      harness.turn(until: "both are under way") { sink.taken.count == 2 }
      client.cancel(cancelled)
      harness.settle()
      let before = client.frames.count
      sink.settle(0, .unregistered)
      harness.settle()
      #expect(client.frames.count == before && client.answers.isEmpty && client.recorder.endReason == nil)
      #expect(harness.emulator.provider.openStreams == 1)
      sink.settle(0)
      harness.turn(until: "the other is answered") { client.answers[kept] != nil }
      #expect(client.answers[kept]?.status == 200)
      // The client's streams have odd numbers.
      #expect(Set(client.frames.suffix(from: before).map(\.stream)) == [3])
      client.send(.push(token.hex))
      harness.turn(until: "a third is under way") { sink.taken.count == 1 }
      client.connection.abort("the test says so", reset: true)
      harness.turn(until: "the connection is gone") { harness.connections("provider").isEmpty }
      sink.settle(0)
      #expect(harness.emulator.waiters.isEmpty)
      try expectStreamIsServed()
    }

    /// The next provider gets the verdict on its own push.
    private func expectStreamIsServed(sourceLocation: SourceLocation = #_sourceLocation) throws {
      let client = try openClient()
      let id = client.send(.push(token.hex))
      harness.turn(until: "it is under way", sourceLocation: sourceLocation) { sink.taken.count == 1 }
      sink.settle(0, .tooManyRequests)
      harness.turn(until: "it is answered", sourceLocation: sourceLocation) { client.answers[id] != nil }
      #expect(client.answers[id]?.status == 429, sourceLocation: sourceLocation)
    }

    @Test("a stream that finds the sink busy is submitted when it goes on")
    func busyStream() throws {
      sink.isBusy = true
      let client = try openClient()
      let id = client.send(.push(token.hex))
      harness.turn(until: "it was turned away") { sink.turnedAway.count == 1 }
      sink.goOn()
      #expect(sink.taken.count == 1)
      sink.settle(0)
      harness.turn(until: "it is answered") { client.answers[id]?.status == 200 }
    }

    @Test("a push in plain HTTP is answered when its verdict comes")
    func plain() throws {
      let socket = try RawSocket(harness.address("console"))
      try socket.send(harness.plainPush(to: token))
      harness.turn(until: "it is under way") { sink.taken.count == 1 }
      harness.settle()
      #expect(socket.text.isEmpty)
      sink.settle(0, .tooManyRequests)
      harness.turn(until: "it is answered") { socket.text.hasSuffix(#"{"reason":"TooManyRequests"}"#) }
      #expect(socket.text.hasPrefix("HTTP/1.1 429"))
      #expect(harness.emulator.waiters.isEmpty)
    }

    @Test("a verdict on a push in plain HTTP whose client has gone is for nobody")
    func plainGone() throws {
      var socket: RawSocket? = try RawSocket(harness.address("console"))
      try socket?.send(harness.plainPush(to: token))
      harness.turn(until: "it is under way") { sink.taken.count == 1 }
      socket = nil
      harness.turn(until: "the connection is gone") {
        harness.emulator.console?.openConnections.isEmpty == true
      }
      #expect(!harness.emulator.waiters.isEmpty, "what was sent goes on without it")
      sink.settle(0, .unregistered)
      #expect(harness.emulator.waiters.isEmpty)
      try expectStreamIsServed()
    }

    @Test("a person's test push is told of when its verdict comes", arguments: TestPush.Form.allCases)
    func testPush(form: TestPush.Form) throws {
      let topic = try #require(Topic(Site.topic))
      var push = TestPush(token: token.bytes, topic: topic, environment: .sandbox)
      (push.form, push.payload, push.pushType) = (form, Array(#"{"aps":{}}"#.utf8), .alert)
      var ids: [UInt64?] = []
      sink.isBusy = true
      harness.emulator.testPushes.send(push) { ids.append($0) }
      #expect(sink.turnedAway.count == 1)
      sink.goOn()
      #expect(sink.taken.count == 1 && ids.isEmpty)
      sink.settle(0)
      #expect(ids == [1])
      #expect(harness.emulator.waiters.isEmpty)
    }
  }
}
