import Basics
import Broker
import CourierWire
import Platform
import PushModel
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  /// Some client dies of a frame that comes right behind an answer
  /// (`Documentation/device-protocol.md#quiet-after-an-answer`).
  @Suite("Courier, the pause after an answer")
  struct CourierQuietTests {
    private static let pause: Int64 = 20_000_000

    private func now() -> Instant { SystemClock.now() }

    /// What a device asks for, and the command that answers it.
    enum Question: CaseIterable {
      case connect, token, keepAlive

      var answer: CourierCommand {
        switch self {
        case .connect: .connected
        case .token: .appTokenResponse
        case .keepAlive: .keepAliveAnswer
        }
      }

      func ask(_ device: DeviceClient, _ harness: EmulatorHarness) throws {
        switch self {
        case .connect: device.send(try ConnectRequest.proving(harness.identity("phone-2")))
        case .token: device.send(AppTokenRequest(baseToken: device.baseToken, topic: try .app()))
        case .keepAlive: device.send(KeepAlive())
        }
      }
    }

    @Test(
      "pushes wait 20 ms behind an answer, keep their order, and then all come", arguments: Question.allCases)
    func pushes(question: Question) throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      let provider = try harness.provider()
      harness.passPause()
      let answers = device.count(question.answer)
      let asked = now()
      try question.ask(device, harness)
      provider.send((1...50).flatMap { Frames.full(token, id: $0, payload: Frames.text("\($0)")) })
      device.waitForMessages(50)
      #expect(device.count(question.answer) == answers + 1)
      let order = device.frames.suffix(51)
      #expect(order.first?.command == question.answer.rawValue)
      let soonest = try #require(order.dropFirst().first)
      #expect(soonest.at.nanoseconds(since: asked) >= Self.pause)
      #expect(device.messages.map(\.payload) == (1...50).map { Frames.text("\($0)") })
    }

    @Test("without an answer before them pushes do not wait")
    func atOnce() throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      let provider = try harness.provider()
      harness.passPause()
      // Some of many may be slow on a busy machine, all are slow only if they wait.
      var delays: [Int64] = []
      for id in 1...10 {
        let sent = now()
        provider.send(Frames.full(token, id: UInt32(id)))
        device.waitForMessages(id)
        delays.append(now().nanoseconds(since: sent))
      }
      #expect(delays.contains { $0 < Self.pause / 2 }, "\(delays)")
    }

    @Test("a filter right behind the welcome: what it releases waits, stored message and no-storage alike")
    func filterBehindConnect() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let provider = try harness.provider()
      for isStored in [false, true] {
        if isStored {
          provider.send(Frames.full(token, id: 1))
          harness.turn(until: "it is kept") { harness.broker.counters.stored == 1 }
        }
        let device = try DeviceClient(harness)
        let base = try #require(try harness.device().baseToken)
        device.open()
        let asked = now()
        device.send(try ConnectRequest.proving(harness.identity("phone-1"), offering: base))
        device.send(FilterUpdate(baseToken: base, enabled: [try .app()]))
        harness.turn(until: "both are answered") { device.frames.count == 2 }
        #expect(device.frames.map(\.command) == [0x08, isStored ? 0x0a : 0x0e])
        #expect(device.frames[1].at.nanoseconds(since: asked) >= Self.pause)
        device.disconnect()
      }
    }

    @Test("a filter long behind the welcome waits too: a question in the same breath is answered first")
    func filterWithQuestion() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let provider = try harness.provider()
      provider.send(Frames.full(token, id: 1))
      harness.turn(until: "it is stored") { harness.broker.counters.stored == 1 }
      let device = try DeviceClient(harness)
      let base = try #require(try harness.device().baseToken)
      device.open()
      device.send(try ConnectRequest.proving(harness.identity("phone-1"), offering: base))
      harness.turn(until: "it is welcome") { device.frames.count == 1 }
      harness.passPause()
      device.send(FilterUpdate(baseToken: base, enabled: [try .app()]))
      device.send(AppTokenRequest(baseToken: base, topic: try .app()))
      harness.turn(until: "both are answered") { device.frames.count == 3 }
      #expect(device.frames.map(\.command) == [0x08, Question.token.answer.rawValue, 0x0a])
    }

    @Test("the pause begins when the answer leaves, however long the store takes")
    func slowStore() throws {
      let folder = ScratchFolder()
      let harness = try EmulatorHarness(data: folder.path)
      let (device, token) = try harness.listener()
      let provider = try harness.provider()
      harness.passPause()
      let spy = try harness.spyOnStore()
      var committed: Instant?
      spy.beforeCommit = { _ in
        // A slow disk, once.
        guard committed == nil else { return }
        let end = now().adding(nanoseconds: 2 * Self.pause)
        while now() < end {}
        committed = now()
      }
      let messages = device.messages.count
      device.send(
        AppTokenRequest(baseToken: device.baseToken, topic: TopicHash(try #require(Topic("com.example.new"))))
      )
      harness.turn(until: "the token is written") { committed != nil }
      provider.send(Frames.full(token, id: 1))
      device.waitForMessages(messages + 1)
      let last = try #require(device.frames.last)
      let commit = try #require(committed)
      #expect(last.command == 0x0a && last.at.nanoseconds(since: commit) >= Self.pause)
    }

    @Test("a push of the same long turn waits too")
    func longTurn() throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      harness.passPause()
      let connection = try #require(harness.connections("courier").first)
      let handler = try #require(connection.handler)
      // All of this is one turn: the device asks, something takes long, and then there is a push.
      handler.connection(connection, received: KeepAlive().encoded.span)
      let end = now().adding(nanoseconds: Self.pause + Self.pause / 4)
      while now() < end {}
      #expect(try harness.submit(token.bytes).rejection == nil)
      device.waitForMessages(1)
      #expect(device.frames.suffix(2).map(\.command) == [0x0d, 0x0a])
      let last = try #require(device.frames.last)
      #expect(last.at.nanoseconds(since: end) >= Self.pause)
    }
  }
}

extension TopicHash {
  /// The topic of most tests.
  static func app() throws -> TopicHash { TopicHash(try #require(Topic(Site.topic))) }
}
