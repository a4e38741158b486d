import Console
import Faults
import PushModel
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  /// What is delayed or has no verdict yet when the emulator ends, whatever the sink. `LateVerdictTests` has more of what the
  /// gateway does then.
  @Suite("The orderly end of what is under way")
  struct ShutdownTests {
    private let harness: EmulatorHarness
    private let token: DeviceToken
    private let sink: LateSink

    init() throws {
      (harness, sink) = try EmulatorHarness.withLateVerdicts()
      token = try harness.offlineToken()
    }

    /// The whole end, without much timeout for verdicts.
    private func end() throws {
      harness.emulator.shutdown.verdictTimeout = 50_000_000
      harness.stop()
    }

    private func delayAll() {
      var effects = FaultEffects()
      effects.delay = .init(milliseconds: 3_600_000)
      harness.emulator.faultEngine.set(FaultRule(name: "slow", schedule: .always, effects: effects))
    }

    @Test("nothing of the turn in which the emulator fails is stored, or told", arguments: [false, true])
    func failureAmidATurn(commitsLater: Bool) throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path)
      let (spy, token) = (try harness.spyOnStore(), try harness.offlineToken())
      harness.settle()
      spy.commitsLater = commitsLater
      let commits = spy.commits
      var push = TestPush(token: token.bytes, topic: try #require(Topic(Site.topic)), environment: .sandbox)
      (push.payload, push.pushType) = (Array(#"{"aps":{}}"#.utf8), .alert)
      harness.emulator.sendTest(push) { _ in }
      try #require(harness.broker.counters.accepted == 1)
      harness.emulator.host.giveUp("another node leads what this one led")
      harness.emulator.loop.runTurn()
      #expect(spy.commits == commits)
    }

    @Test("an end that is asked for during the start follows it")
    func duringTheStart() throws {
      let harness = try EmulatorHarness(prepare: { $0.stop() })
      harness.turn(until: "nobody is let in any more") { harness.emulator.shutdown.hasBegun }
    }

    // MARK: Test pushes

    /// What the sender of a test push is told.
    private final class Told {
      var ids: [UInt64?] = []
    }

    private func sendTest(_ form: TestPush.Form) throws -> Told {
      let topic = try #require(Topic(Site.topic))
      var push = TestPush(token: token.bytes, topic: topic, environment: .sandbox)
      (push.form, push.payload, push.pushType) = (form, Array(#"{"aps":{}}"#.utf8), .alert)
      let told = Told()
      harness.emulator.sendTest(push) { told.ids.append($0) }
      return told
    }

    @Test("a test push that is delayed is taken at once", arguments: TestPush.Form.allCases)
    func delayedTestPush(form: TestPush.Form) throws {
      delayAll()
      let told = try sendTest(form)
      harness.settle()
      #expect(sink.taken.isEmpty)
      harness.emulator.stop()
      try #require(sink.taken.count == 1)
      sink.settle(0)
      #expect(told.ids == [1])
    }

    @Test("a test push that comes during the end is not delayed", arguments: TestPush.Form.allCases)
    func testPushDuringTheEnd(form: TestPush.Form) throws {
      delayAll()
      harness.emulator.stop()
      _ = try sendTest(form)
      #expect(sink.taken.count == 1)
    }

    @Test(
      "a test push whose verdict does not come in time is told of without", arguments: TestPush.Form.allCases)
    func lateTestPush(form: TestPush.Form) throws {
      let told = try sendTest(form)
      #expect(sink.taken.count == 1)
      try end()
      #expect(told.ids == [1])
    }

    @Test("a test push that the sink never took has no number to tell", arguments: TestPush.Form.allCases)
    func busyTestPush(form: TestPush.Form) throws {
      sink.isBusy = true
      let told = try sendTest(form)
      try end()
      #expect(told.ids == [nil])
    }

    // MARK: Providers

    /// A push in plain HTTP; nobody has read the answer.
    private func sendPlain() throws -> RawSocket {
      let socket = try RawSocket(harness.address("console"))
      try socket.send(harness.plainPush(to: token))
      return socket
    }

    @Test("a push in plain HTTP that is delayed is taken at once, and answered when its verdict comes")
    func delayedPlain() throws {
      delayAll()
      let socket = try sendPlain()
      harness.turn(until: "it is delayed") { harness.emulator.faultEngine["slow"]?.hits == 1 }
      harness.emulator.stop()
      try #require(sink.taken.count == 1)
      harness.settle()
      sink.settle(0, .tooManyRequests)
      harness.turn(until: "it is answered") { socket.text.hasSuffix(#"{"reason":"TooManyRequests"}"#) }
      #expect(socket.text.hasPrefix("HTTP/1.1 429"))
    }

    @Test(
      "a delayed push on a connection that stands still is given up, as its provider would not hear of it")
    func delayedWhereAllStandsStill() throws {
      var (late, still) = (FaultEffects(), FaultEffects())
      (late.delay, still.stalls) = (.init(milliseconds: 3_600_000), true)
      let client = try HTTP2Client(harness, .app())
      client.open()
      for (name, effects) in [("late", late), ("still", still)] {
        harness.emulator.faultEngine.set(FaultRule(name: name, schedule: .next(1), effects: effects))
        client.send(.push(token.hex))
        harness.turn(until: "it is held up") {
          harness.emulator.faultEngine.rules.allSatisfy { $0.hits == 1 }
        }
      }
      harness.emulator.stop()
      #expect(sink.seen.isEmpty)
      let journal = harness.broker.journal
      let words = (journal.nextId - 2..<journal.nextId).map { journal.detail($0)?.explanation ?? "nothing" }
      #expect(words.allSatisfy { $0.contains("and the connection ended before it was over") }, "\(words)")
    }

    @Test("the loop turns until the verdicts are there")
    func waits() throws {
      let socket = try sendPlain()
      harness.turn(until: "it is under way") { sink.taken.count == 1 }
      let timer = LoopEvent(timerOn: harness.loop) { [sink] in sink.settle(0) }
      timer.start(afterNanoseconds: 100_000_000)
      harness.stop()
      #expect(socket.text.hasPrefix("HTTP/1.1 200"))
    }

    @Test("a provider on the gateway hears how far it got when the last verdict does not come")
    func gateway() throws {
      let provider = try harness.provider()
      provider.send((1...3).flatMap { Frames.full(token, id: $0) })
      harness.turn(until: "all are under way") { sink.taken.count == 3 }
      sink.settle(0)
      sink.settle(0)
      try end()
      #expect(provider.recorder.received == bytes("080a00000002"))
    }
  }
}

extension EmulatorHarness {
  /// The bytes of a push in plain HTTP.
  func plainPush(to token: DeviceToken) throws -> [UInt8] {
    let body = #"{"aps":{"alert":"Hi"}}"#
    let head = [
      "POST /3/device/\(token.hex) HTTP/1.1", "Host: localhost", "Content-Length: \(body.utf8.count)",
      "authorization: \(try bearer())", "apns-topic: \(Site.topic)", "apns-push-type: alert",
    ]
    return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }
}
