import Basics
import Broker
import CourierWire
import LegacyWire
import Platform
import PushModel
import Recorder
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  /// `Sources/ARCHITECTURE.md#promises` 1 for a store that needs time.
  @Suite("Commits that complete later")
  struct LateCommitTests {
    private let folder = ScratchFolder()

    /// An emulator with a token that is in its store.
    private func start() throws -> (EmulatorHarness, StoreSpy, DeviceToken) {
      let harness = try EmulatorHarness(data: folder.path)
      return (harness, try harness.spyOnStore(), try harness.offlineToken())
    }

    /// Once everybody is connected, commits complete when the test says so.
    private func slowDown(_ spy: StoreSpy, _ harness: EmulatorHarness) {
      harness.settle()
      spy.commitsLater = true
    }

    private func startWithClient() throws -> (EmulatorHarness, StoreSpy, DeviceToken, HTTP2Client) {
      let (harness, spy, token) = try start()
      let client = try HTTP2Client(harness, .app())
      client.open()
      slowDown(spy, harness)
      return (harness, spy, token, client)
    }

    @Test("a 200 waits for its commit, and one that comes meanwhile for the next")
    func answers() throws {
      let (harness, spy, token) = try start()
      let (first, second) = (try HTTP2Client(harness, .app()), try HTTP2Client(harness, .app()))
      first.open()
      second.open()
      slowDown(spy, harness)
      let commits = spy.commits
      let early = first.send(.push(token.hex))
      harness.turn(until: "the first commit is under way") { spy.isUnderWay }
      let late = first.send(.push(token.hex))
      let other = second.send(.push(token.hex))
      harness.turn(until: "all are accepted") { harness.broker.counters.accepted == 3 }
      harness.settle()
      #expect(first.answers.isEmpty && second.answers.isEmpty && spy.commits == commits + 1)
      spy.complete()
      harness.turn(until: "the first is answered") { first.answers[early] != nil }
      harness.settle()
      #expect(first.answers[late] == nil && second.answers[other] == nil)
      #expect(spy.commits == commits + 2 && spy.isUnderWay)
      spy.complete()
      harness.turn(until: "all are answered") { first.answers[late] != nil && second.answers[other] != nil }
      #expect(first.answers.values.allSatisfy { $0.status == 200 })
      #expect(spy.commits == commits + 2)
    }

    @Test("whether it is ready waits for no commit, and lets nothing out that does")
    func readiness() throws {
      let harness = try EmulatorHarness(data: folder.path) { $0.listeners.console = .number(0) }
      let (spy, token) = (try harness.spyOnStore(), try harness.offlineToken())
      let client = try HTTP2Client(harness, .app())
      client.open()
      slowDown(spy, harness)
      client.send(.push(token.hex))
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      #expect(try harness.ask("GET", "/readyz").contains("200 OK"))
      let socket = try RawSocket(try harness.address("console"))
      func answers() -> Int { socket.text.ranges(of: "HTTP/1.1 200 OK").count }
      let requests = ["/readyz", "/api/v1/info", "/readyz"].map {
        "GET \($0) HTTP/1.1\r\nHost: localhost\r\n\r\n"
      }
      socket.send(requests.joined())
      harness.turn(until: "the first is answered") { answers() > 0 }
      harness.settle()
      // What tells of the push waits, and so does what comes behind it.
      #expect(answers() == 1 && spy.isUnderWay)
      spy.complete()
      harness.turn(until: "all are answered") { answers() == 3 }
      #expect(client.answers.values.allSatisfy { $0.status == 200 })
    }

    @Test("an error packet waits for the commit of what came before it, and so does the end")
    func errorPacket() throws {
      let (harness, spy, token) = try start()
      let client = try harness.provider()
      slowDown(spy, harness)
      client.send(Frames.full(token, id: 1) + BadFrame.all[0].frame)
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      harness.settle()
      #expect(client.recorder.received.isEmpty && !client.recorder.hasEnded)
      spy.complete()
      #expect(client.readToEnd() == BadFrame.all[0].packet)
    }

    @Test("an end without a word waits as well")
    func silentEnd() throws {
      let (harness, spy, token) = try start()
      let client = try harness.provider()
      slowDown(spy, harness)
      client.send(Frames.full(token, id: 1) + LegacyEncoder.simple(token: Array(token.bytes), payload: []))
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      harness.settle()
      #expect(!client.recorder.hasEnded)
      spy.complete()
      #expect(client.readToEnd().isEmpty)
    }

    @Test("a device hears of a message after its commit, and of no later one")
    func device() throws {
      let harness = try EmulatorHarness(data: folder.path)
      let (device, token) = try harness.listener()
      let spy = try harness.spyOnStore()
      let client = try HTTP2Client(harness, .app())
      _ = try client.answer(.push(token.hex))
      device.waitForMessages(1)
      device.acknowledge(device.messages[0])
      harness.turn(until: "the first is acknowledged") { !harness.broker.deliveries.hasUnacknowledged }
      slowDown(spy, harness)
      client.send(.push(token.hex))
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      client.send(.push(token.hex))
      harness.turn(until: "all are accepted") { harness.broker.counters.accepted == 3 }
      harness.settle()
      #expect(device.messages.count == 1)
      spy.complete()
      device.waitForMessages(2)
      harness.settle()
      #expect(device.messages.count == 2)
      harness.turn(until: "the next commit is under way") { spy.isUnderWay }
      spy.complete()
      device.waitForMessages(3)
    }

    @Test(
      "the pause behind an answer to a device begins when the commit lets it leave, not with an earlier one")
    func quietAfterAnswer() throws {
      let pause: Int64 = 20_000_000
      let harness = try EmulatorHarness(data: folder.path)
      let (device, token) = try harness.listener()
      let spy = try harness.spyOnStore()
      let client = try HTTP2Client(harness, .app())
      client.open()
      harness.passPause()
      slowDown(spy, harness)
      client.send(.push(token.hex))
      harness.turn(until: "the first commit is under way") { spy.isUnderWay }
      let answers = device.count(.keepAliveAnswer)
      device.send(KeepAlive())
      client.send(.push(token.hex))
      harness.turn(until: "both are taken") { harness.broker.counters.accepted == 2 }
      harness.settle()
      spy.complete()
      device.waitForMessages(1)
      harness.turn(until: "the next commit is under way") { spy.isUnderWay }
      harness.turn(milliseconds: 3 * pause / 1_000_000)
      #expect(device.count(.keepAliveAnswer) == answers && device.messages.count == 1)
      let completed = SystemClock.now()
      spy.complete()
      device.waitForMessages(2)
      #expect(device.frames.suffix(2).map(\.command) == [0x0d, 0x0a])
      let last = try #require(device.frames.last)
      #expect(last.at.nanoseconds(since: completed) >= pause)
    }

    @Test(
      "what comes while the store rests goes into one commit behind the rest, and is answered behind that")
    func rest() throws {
      let (harness, spy, token, client) = try startWithClient()
      var accepted = 0
      func push() -> Int {
        let id = client.send(.push(token.hex))
        accepted += 1
        harness.turn(until: "it is accepted") { harness.broker.counters.accepted == accepted }
        return id
      }
      // A busy machine may need longer for two pushes than the store rests, which then goes on longer.
      for rest: Int64 in [20_000_000, 200_000_000, 2_000_000_000, 20_000_000_000] {
        spy.restAfterCommit = rest
        let first = push()
        harness.turn(until: "its commit is under way") { spy.isUnderWay }
        let (commits, completed) = (spy.commits, SystemClock.now())
        spy.complete()
        harness.turn(until: "it is answered") { client.answers[first] != nil }
        var began = Instant.distantPast
        spy.beforeCommit = { _ in began = SystemClock.now() }
        let later = [push(), push()]
        guard spy.commits == commits else {
          harness.turn(until: "all are answered") {
            if spy.isUnderWay { spy.complete() }
            return later.allSatisfy { client.answers[$0] != nil }
          }
          continue
        }
        harness.turn(until: "the next commit is under way") { spy.isUnderWay }
        #expect(began.nanoseconds(since: completed) >= rest && spy.commits == commits + 1)
        harness.settle()
        #expect(later.allSatisfy { client.answers[$0] == nil })
        spy.complete()
        harness.turn(until: "all are answered") { later.allSatisfy { client.answers[$0]?.status == 200 } }
        #expect(spy.commits == commits + 1)
        return
      }
      Issue.record("two pushes took longer than each rest")
    }

    @Test("the end waits for no rest")
    func endOfRest() throws {
      let (harness, spy, token, client) = try startWithClient()
      spy.restAfterCommit = 3_600_000_000_000
      client.send(.push(token.hex))
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      spy.complete()
      client.send(.push(token.hex))
      harness.turn(until: "both are accepted") { harness.broker.counters.accepted == 2 }
      client.connection.abort("the test says so", reset: true)
      harness.turn(until: "the connection is gone") { harness.connections("provider").isEmpty }
      let commits = spy.commits
      #expect(!spy.isUnderWay)
      let ending = Repeating(harness.loop, everyNanoseconds: 1_000_000) {
        if spy.isUnderWay { spy.complete() }
      }
      harness.stop()
      #expect(spy.commits == commits + 1 && harness.emulator.failure == nil && ending.count > 0)
    }

    @Test("turns that change nothing hold nobody up")
    func nothingChanged() throws {
      let (harness, spy, token, client) = try startWithClient()
      let id = client.send(.push(token.hex))
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      spy.complete()
      harness.turn(until: "it is answered") { client.answers[id] != nil }
      let refused = try client.answer(.push(Hex.encode(Frames.unknownToken)))
      #expect(refused.status == 400 && !spy.isUnderWay)
      #expect(!harness.loop.holdsOutput)
    }

    @Test("a commit that fails late: nobody is answered, and the emulator ends")
    func failure() throws {
      let (harness, spy, token, client) = try startWithClient()
      let provider = try harness.provider()
      client.send(.push(token.hex))
      provider.send(Frames.full(token, id: 1))
      harness.turn(until: "both are accepted") { harness.broker.counters.accepted == 2 }
      spy.complete(.failure(StoreSpy.Refused()))
      #expect(harness.emulator.failure?.status == .storeUnusable)
      harness.turn(until: "all are gone") { client.recorder.hasEnded && provider.recorder.hasEnded }
      #expect(client.answers.isEmpty && provider.recorder.received.isEmpty)
      // An orderly end would mean success.
      #expect(!client.recorder.sawClose && !provider.recorder.sawClose)
    }

    @Test("the orderly end waits for what is under way")
    func end() throws {
      let (harness, spy, token, client) = try startWithClient()
      let id = client.send(.push(token.hex))
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      let timer = LoopEvent(timerOn: harness.loop) { spy.complete() }
      timer.start(afterNanoseconds: 30_000_000)
      harness.stop()
      #expect(client.answers[id]?.status == 200)
      #expect(harness.emulator.failure == nil)
    }

    @Test("the orderly end waits for a commit also when nobody is left to hear of it")
    func endAlone() throws {
      let (harness, spy, token, client) = try startWithClient()
      client.send(.push(token.hex))
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      client.connection.abort("the test says so", reset: true)
      harness.turn(until: "the connection is gone") { harness.connections("provider").isEmpty }
      let timer = LoopEvent(timerOn: harness.loop) { spy.complete() }
      timer.start(afterNanoseconds: 200_000_000)
      harness.stop()
      #expect(harness.emulator.failure == nil && !spy.isUnderWay)
    }

    /// A commit that is under way, something that has come behind it, and nobody who waits to hear of either.
    private func startAlone(pushes: Int) throws -> (EmulatorHarness, StoreSpy) {
      let (harness, spy, token, client) = try startWithClient()
      client.send(.push(token.hex))
      harness.turn(until: "the commit is under way") { spy.isUnderWay }
      for _ in 1..<pushes { client.send(.push(token.hex)) }
      harness.turn(until: "all are accepted") { harness.broker.counters.accepted == pushes }
      client.connection.abort("the test says so", reset: true)
      harness.turn(until: "the connection is gone") { harness.connections("provider").isEmpty }
      return (harness, spy)
    }

    @Test("at the end each commit has its own time")
    func endOfTwo() throws {
      let (harness, spy) = try startAlone(pushes: 2)
      let commits = spy.commits
      harness.emulator.turnEnd.commitTimeout = 1_000_000_000
      let slowly = Repeating(harness.loop, everyNanoseconds: 600_000_000) { spy.complete() }
      harness.stop()
      #expect(harness.emulator.failure == nil && !spy.isUnderWay && spy.commits == commits + 1)
      #expect(slowly.count == 2)
    }

    @Test("an end that waits for a commit in vain says for how long")
    func endInVain() throws {
      let (harness, spy) = try startAlone(pushes: 1)
      spy.mayBeAbandoned = true
      harness.emulator.turnEnd.commitTimeout = 50_000_000
      harness.stop()
      let failure = try #require(harness.emulator.failure)
      #expect(failure.status == .storeUnusable)
      #expect(
        failure.sentence
          == "the store can't be written: a commit was not complete within \(Duration.milliseconds(50))")
    }

    @Test("the capture has what is committed, and nothing that came while the commit was under way")
    func capture() throws {
      let path = folder.file("capture.jsonl")
      let harness = try EmulatorHarness(data: folder.path) { $0.capture = CaptureOptions(path: path) }
      let (spy, token) = (try harness.spyOnStore(), try harness.offlineToken())
      let provider = try harness.provider()
      slowDown(spy, harness)
      for round in 1...3 {
        // The end of a connection has the capture take up all that has come.
        let leaver = try harness.provider()
        provider.send(Frames.full(token, id: 1, payload: Frames.text("covered \(round)")))
        harness.turn(until: "the commit is under way") { spy.isUnderWay }
        let accepted = harness.broker.counters.accepted
        leaver.send(Frames.full(token, id: 2, payload: Frames.text("later \(round)")))
        harness.turn(until: "another comes") { harness.broker.counters.accepted > accepted }
        leaver.connection.abort("the test says so", reset: true)
        harness.turn(until: "one is gone") { harness.connections("gateway").count == 1 }
        #expect(try !capturedFrames(path).contains { $0.contains("covered \(round)") })
        spy.complete()
        harness.turn(until: "it is captured") {
          (try? capturedFrames(path).contains { $0.contains("covered \(round)") }) == true
        }
        #expect(try !capturedFrames(path).contains { $0.contains("later \(round)") })
        harness.turn(until: "the next commit is under way") { spy.isUnderWay }
        spy.complete()
        harness.turn(until: "that is captured too") {
          (try? capturedFrames(path).contains { $0.contains("later \(round)") }) == true
        }
      }
    }
  }
}

/// Does something again and again while the loop turns.
private final class Repeating {
  private(set) var count = 0
  private var timer: LoopEvent?

  init(_ loop: EventLoop, everyNanoseconds interval: Int64, _ work: @escaping () -> Void) {
    timer = LoopEvent(timerOn: loop) { [unowned self] in
      count += 1
      work()
      timer?.start(afterNanoseconds: interval)
    }
    timer?.start(afterNanoseconds: interval)
  }
}
