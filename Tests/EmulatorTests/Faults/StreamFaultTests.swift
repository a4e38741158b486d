import Faults
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  /// `Documentation/faults.md#effects-of-a-push`
  @Suite("Faults on streams")
  struct StreamFaultTests {
    private let harness: EmulatorHarness
    private let token: DeviceToken

    init() throws {
      harness = try EmulatorHarness()
      token = try harness.offlineToken()
    }

    private func openClient() throws -> HTTP2Client {
      let client = try HTTP2Client(harness, .app())
      client.open()
      return client
    }

    private func send(_ count: Int, by client: HTTP2Client) -> [Int] {
      (0..<count).map { _ in client.send(.push(token.hex)) }
    }

    private func inject(
      _ name: String = "fault", _ schedule: FaultSchedule = .next(1), _ set: (inout FaultEffects) -> Void
    ) {
      var effects = FaultEffects()
      set(&effects)
      harness.emulator.faultEngine.set(FaultRule(name: name, schedule: schedule, effects: effects))
    }

    // MARK: GOAWAY

    /// RFC 9113 6.8, 7
    @Test("behind a GOAWAY that keeps the connection open every later stream is refused with REFUSED_STREAM")
    func keepsOpen() throws {
      inject("fault", .nth(2)) { $0.goAway = .init(reason: "Shutdown", keepsOpen: true) }
      let client = try openClient()
      let sent = send(3, by: client)
      harness.turn(until: "all are over") { client.answers.count + client.resets.count == 3 }
      #expect(client.answers[sent[0]]?.status == 200)
      #expect(sent[1...].allSatisfy { client.resets[$0] == .refusedStream })
      #expect(client.session.peerGoAway?.lastStreamID == 1)
      #expect(
        client.session.peerGoAway.map { String(decoding: $0.debugData, as: UTF8.self) }
          == #"{"reason":"Shutdown"}"#)
      // One that goes on all the same: HEADERS with END_STREAM on stream 7.
      client.connection.send(bytes("000011 01 05 00000007 83 87 0101 61 040a 2f332f6465766963652f"))
      harness.turn(until: "it is refused") {
        client.frames.contains { $0.type == 3 && $0.stream == 7 && $0.payload == [0, 0, 0, 7] }
      }
      #expect(harness.connections("provider").count == 1 && !client.recorder.hasEnded)
      #expect(harness.broker.counters.accepted == 1)
    }

    @Test("a GOAWAY that names no stream has nothing taken, not even what another fault delays")
    func zero() throws {
      inject("late") { $0.delay = .init(milliseconds: 600_000) }
      inject("zero") { $0.goAway = .init(lastStream: .zero) }
      let client = try openClient()
      let sent = send(3, by: client)
      harness.turn(until: "the connection ends") { client.recorder.hasEnded }
      #expect(client.recorder.sawClose && client.session.peerGoAway?.lastStreamID == 0)
      #expect(sent.allSatisfy { client.resets[$0] == .refusedStream })
      #expect(harness.broker.counters.accepted == 0)
      let faults = (1..<harness.broker.journal.nextId).map { harness.broker.journal.detail($0)?.fault }
      #expect(Set(faults.map { $0?.name }) == ["late", "zero"])
      #expect(faults.allSatisfy { $0?.isAnswered == false })
    }

    @Test("what was answered before a GOAWAY that names no stream is told before it")
    func answeredBeforeZero() throws {
      inject("zero", .nth(2)) { $0.goAway = .init(lastStream: .zero) }
      let client = try openClient()
      let sent = [client.send(.push("zz")), client.send(.push(token.hex))]
      harness.turn(until: "the connection ends") { client.recorder.hasEnded }
      #expect(client.answers[sent[0]]?.text == #"{"reason":"BadDeviceToken"}"#)
      #expect(client.resets[sent[1]] == .refusedStream && harness.broker.counters.accepted == 0)
    }

    @Test(
      "a GOAWAY that names the highest stream has all up to it answered, and then the end",
      arguments: [true, false])
    func highest(keepsOpen: Bool) throws {
      inject("fault", .nth(2)) { $0.goAway = .init(lastStream: .highest, keepsOpen: keepsOpen) }
      let client = try openClient()
      let sent = send(3, by: client)
      harness.turn(until: "all are over") { client.answers.count + client.resets.count == 3 }
      let last = try #require(client.session.peerGoAway?.lastStreamID)
      // Streams of clients have odd numbers: the second push is on stream 3.
      #expect(last >= 3 && client.answers.count == (Int(last) + 1) / 2)
      #expect(client.answers.values.allSatisfy { $0.status == 200 })
      #expect(client.answers[sent[1]] != nil && harness.broker.counters.accepted == client.answers.count)
      guard keepsOpen else {
        harness.turn(until: "the connection ends") { client.recorder.hasEnded }
        #expect(client.recorder.sawClose)
        return
      }
      harness.settle()
      #expect(!client.recorder.hasEnded && harness.connections("provider").count == 1)
    }

    // MARK: Taken, and not answered

    @Test(
      "a push is taken before its connection breaks, and gets no answer",
      arguments: ["reset", "garbage", "halfClose", "goaway", "zero"])
    func taken(breakage: String) throws {
      inject("lost") {
        $0.takesPush = true
        switch breakage {
        case "reset": $0.resetsConnection = true
        case "garbage": $0.garbage = 40
        case "halfClose": $0.halfCloses = true
        case "zero": $0.goAway = .init(lastStream: .zero)
        default: $0.goAway = .init(reason: "Shutdown")
        }
      }
      let client = try openClient()
      let sent = client.send(.push(token.hex))
      harness.turn(until: "the connection ends") { client.recorder.hasEnded }
      #expect(client.answers.isEmpty && harness.broker.counters.accepted == 1)
      let id = harness.broker.journal.nextId - 1
      #expect(harness.broker.journal[id]?.rejection == nil)
      let fault = try #require(harness.broker.journal.detail(id)?.fault)
      #expect(fault.name == "lost" && !fault.isAnswered)
      // Above the last stream it is to be sent again, though it was taken.
      #expect((client.resets[sent] == .refusedStream) == (breakage == "zero"))
      if breakage == "goaway" { #expect(client.session.peerGoAway?.lastStreamID == 1) }
    }

    @Test("a push is taken before its stream is reset, and the connection goes on")
    func takenAndReset() throws {
      inject { ($0.takesPush, $0.resetStream) = (true, 8) }
      let client = try openClient()
      let sent = send(2, by: client)
      harness.turn(until: "both are over") { client.answers.count + client.resets.count == 2 }
      #expect(client.resets[sent[0]] == .cancel && client.answers[sent[1]]?.status == 200)
      #expect(harness.broker.counters.accepted == 2)
    }

    @Test("what the checks refuse is not taken, and nobody is told")
    func takenAndBad() throws {
      inject { ($0.takesPush, $0.halfCloses) = (true, true) }
      let client = try openClient()
      client.send(.push("zz"))
      harness.turn(until: "the connection ends") { client.recorder.hasEnded }
      #expect(client.answers.isEmpty && harness.broker.counters.accepted == 0)
      #expect(harness.broker.counters.rejected == 1)
    }

    // MARK: Stream limits

    /// `Documentation/provider-api.md#settings`
    @Test(
      "a stream limit comes with its push, and stays whatever the client shows", arguments: [true, false])
    func streamLimit(hasCertificate: Bool) throws {
      inject { $0.streamLimit = 2 }
      let client = try HTTP2Client(harness, hasCertificate ? .app() : nil)
      client.open()
      for _ in 0..<2 {
        let push = ProviderRequest.push(
          token.hex, authorization: hasCertificate ? nil : try harness.bearer())
        #expect(try client.answer(push).status == 200)
        #expect(client.session.peerMaximumConcurrentStreams == 2)
      }
      inject { $0.streamLimit = 1000 }
      client.send(.push(token.hex, authorization: hasCertificate ? nil : try harness.bearer()))
      harness.turn(until: "it is raised") { client.session.peerMaximumConcurrentStreams == 1000 }
    }

    @Test("a new connection begins with the limit that a rule says, and keeps it", arguments: [true, false])
    func initialLimit(hasCertificate: Bool) throws {
      inject { $0.initialStreamLimit = 3 }
      let client = try HTTP2Client(harness, hasCertificate ? .app() : nil)
      client.open()
      #expect(client.session.peerMaximumConcurrentStreams == 3)
      let bearer = hasCertificate ? nil : try harness.bearer()
      for _ in 0..<20 { client.send(.push(token.hex, authorization: bearer)) }
      harness.turn(until: "all are answered") { client.answers.count == 20 }
      #expect(client.answers.values.allSatisfy { $0.status == 200 })
      #expect(client.session.peerMaximumConcurrentStreams == 3)
      #expect(client.frames.filter(\.isSettings).count == 1)
      #expect(try openClient().session.peerMaximumConcurrentStreams == 1000, "the rule was for one")
    }
  }
}
