import Faults
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  /// `Documentation/faults.md#effects-of-a-push`, `Documentation/binary-protocol.md#statuses`
  @Suite("Faults on frames")
  struct FrameFaultTests {
    private let harness: EmulatorHarness
    private let token: DeviceToken

    init() throws {
      harness = try EmulatorHarness()
      token = try harness.offlineToken()
    }

    private func inject(_ schedule: FaultSchedule = .nth(2), _ set: (inout FaultEffects) -> Void) {
      var effects = FaultEffects()
      set(&effects)
      harness.emulator.faultEngine.set(FaultRule(name: "fault", schedule: schedule, effects: effects))
    }

    /// A provider that sends three frames at once.
    private func sendThree() throws -> LegacyClient {
      let provider = try harness.provider()
      provider.send((1...3).flatMap { Frames.full(token, id: $0) })
      return provider
    }

    private func accepted() -> [UInt32] {
      (1..<harness.broker.journal.nextId).compactMap { harness.broker.journal[$0] }
        .filter { $0.rejection == nil }.map(\.identifier)
    }

    @Test("a frame is taken before our side ends without a packet, and what is behind it is not")
    func takenAndClosed() throws {
      inject { ($0.takesPush, $0.halfCloses) = (true, true) }
      #expect(try sendThree().readToEnd() == [])
      #expect(accepted() == [1, 2])
      let fault = try #require(harness.broker.journal.detail(harness.broker.journal.nextId - 1)?.fault)
      #expect(fault.name == "fault" && !fault.isAnswered)
    }

    @Test("a frame is taken before its connection is reset, also when it was delayed", arguments: [0, 20])
    func takenAndReset(milliseconds: Int64) throws {
      inject {
        ($0.takesPush, $0.resetsConnection) = (true, true)
        if milliseconds > 0 { $0.delay = .init(milliseconds: milliseconds) }
      }
      let provider = try sendThree()
      harness.turn(until: "the connection ends") { provider.recorder.hasEnded }
      #expect(!provider.recorder.sawClose && provider.recorder.received.isEmpty)
      #expect(accepted() == [1, 2])
    }

    @Test("a frame that the checks refuse is not taken, and nobody is told")
    func takenAndBad() throws {
      inject(.next(1)) { ($0.takesPush, $0.halfCloses) = (true, true) }
      let provider = try harness.provider()
      provider.send(Frames.full(token, id: 1, payload: []))
      #expect(provider.readToEnd() == [])
      #expect(accepted() == [] && harness.broker.counters.rejected == 1)
    }

    @Test(
      "a gateway that goes names the frame before the fault's, none, or the fault's own, which it has taken then",
      arguments: [
        (FaultEffects.GoAway.LastStream.judged, false, "080a00000001", 1), (.zero, false, "080a00000000", 1),
        (.highest, false, "080a00000002", 2), (.judged, true, "080a00000002", 2),
      ])
    func goes(last: FaultEffects.GoAway.LastStream, isTaken: Bool, packet: String, count: UInt32) throws {
      inject {
        $0.goAway = .init(lastStream: last)
        $0.takesPush = isTaken
      }
      #expect(try sendThree().readToEnd() == bytes(packet))
      #expect(accepted() == Array(1...count))
    }

    @Test("a gateway that goes behind a frame that it refuses tells of the refusal")
    func goesBehindRefusal() throws {
      inject(.next(1)) { $0.goAway = .init(lastStream: .highest) }
      let provider = try harness.provider()
      provider.send(Frames.full(token, id: 7, payload: []) + Frames.full(token, id: 8))
      #expect(provider.readToEnd() == bytes("080400000007"))
      #expect(accepted() == [])
    }
  }

  @Suite("Faults on pushes whose verdict comes later")
  struct LateVerdictFaultTests {
    private let harness: EmulatorHarness
    private let sink: LateSink
    private let token: DeviceToken

    init() throws {
      (harness, sink) = try EmulatorHarness.withLateVerdicts()
      token = try harness.offlineToken()
    }

    private func inject(_ set: (inout FaultEffects) -> Void) {
      var effects = FaultEffects()
      set(&effects)
      harness.emulator.faultEngine.set(FaultRule(name: "fault", schedule: .next(1), effects: effects))
    }

    @Test("a frame is handed over once there is room, before our side ends, and stays kept until its verdict")
    func takenWhileBusy() throws {
      sink.isBusy = true
      inject { ($0.takesPush, $0.halfCloses) = (true, true) }
      let provider = try harness.provider()
      provider.send(Frames.full(token, id: 1) + Frames.full(token, id: 2))
      harness.turn(until: "both wait") { sink.kept.count == 2 }
      #expect(!provider.recorder.hasEnded)
      sink.goOn()
      #expect(provider.readToEnd() == [])
      #expect(sink.seen == [1] && sink.kept == [1], "the second is thrown away")
      sink.settle(0)
      #expect(sink.kept.isEmpty)
      provider.connection.close()
      harness.turn(until: "nobody waits") { harness.emulator.waiters.isEmpty }
    }

    @Test("a gateway that goes waits for the verdict on the frame that it names")
    func farewell() throws {
      inject { $0.goAway = .init(lastStream: .highest) }
      let provider = try harness.provider()
      provider.send(Frames.full(token, id: 1) + Frames.full(token, id: 2))
      harness.turn(until: "the first is under way") { sink.taken.count == 1 }
      harness.settle()
      #expect(provider.recorder.received.isEmpty)
      sink.settle(0)
      #expect(provider.readToEnd() == bytes("080a00000001"))
      #expect(sink.seen == [1])
    }

    @Test("a push over HTTP/2 goes on by itself when its connection was reset")
    func takenStream() throws {
      inject { ($0.takesPush, $0.resetsConnection) = (true, true) }
      let client = try HTTP2Client(harness, .app())
      client.open()
      client.send(.push(token.hex))
      harness.turn(until: "the connection ends") { client.recorder.hasEnded }
      #expect(sink.taken.count == 1 && client.answers.isEmpty)
      sink.settle(0)
      #expect(harness.emulator.waiters.isEmpty)
    }
  }
}
