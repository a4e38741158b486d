import LegacyWire
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  @Suite("Gateway")
  struct GatewayTests {
    /// The three commands, the second and third with all and with only what they must have.
    private static func frames(_ token: DeviceToken) -> [[UInt8]] {
      let (token, payload) = (token.bytes, Frames.payload)
      return [
        LegacyEncoder.simple(token: token, payload: payload),
        LegacyEncoder.enhanced(identifier: 42, expiration: 0xffff_ffff, token: token, payload: payload),
        LegacyEncoder.frame(token: token, payload: payload),
        LegacyEncoder.frame(
          token: token, payload: payload, identifier: 42, expiration: 0xffff_ffff, priority: 5),
        // Identifier first, as one client does.
        bytes("02 0000003e 03 0004 0000002a") + bytes("01 0020") + token + bytes("02 0011")
          + payload.prefix(17),
      ]
    }

    @Test("every command is taken in silence, in any segmentation")
    func silence() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let frames = Self.frames(token)
      let stream = frames.flatMap { $0 }
      let unknown = LegacyEncoder.enhanced(
        identifier: 99, expiration: 0, token: Frames.unknownToken, payload: Frames.payload)
      for size in [stream.count, 1, 2, 3, 5, 7, 64, 65, 66] {
        let before = harness.broker.counters.accepted
        let client = try harness.provider()
        client.send(stream, in: [Int](repeating: size, count: stream.count / size))
        harness.turn(until: "all are accepted") {
          harness.broker.counters.accepted == before + UInt64(frames.count)
        }
        // The end of the silence: a packet for the next frame is the first that is heard.
        client.send(unknown)
        #expect(client.readToEnd() == bytes("080800000063"), "pieces of \(size)")
      }
    }

    @Test("a stream cut in two anywhere gives the same frames")
    func everySplit() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let stream = Self.frames(token).flatMap { $0 }
      let client = try harness.provider()
      for cut in 1..<stream.count {
        client.send(stream, in: [cut])
        harness.settle()
      }
      #expect(harness.broker.counters.accepted == UInt64(5 * (stream.count - 1)))
      #expect(harness.broker.counters.received == harness.broker.counters.accepted)
      #expect(client.recorder.received.isEmpty && !client.recorder.hasEnded)
    }

    @Test(
      "what a frame says reaches the device: payload, expiry, priority; commands 0 and 1 have priority 10")
    func meaning() throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      let client = try harness.provider()
      client.send(Self.frames(token).flatMap { $0 })
      device.waitForMessages(5)
      #expect(device.messages.map(\.priority) == [10, 10, 10, 5, 10])
      #expect(device.messages.prefix(4).allSatisfy { $0.payload == Frames.payload })
      #expect(device.messages.allSatisfy { $0.token == token && $0.expiry == 0xffff_ffff })
      #expect(Set(device.messages.map(\.messageId)).count == 5)
    }

    @Test("a provider that closes behind its last frame has had all of them taken")
    func closeBehind() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let client = try harness.provider()
      for id in 1...2000 { client.send(Frames.full(token, id: UInt32(id))) }
      client.connection.close()
      harness.turn(until: "both are done") {
        client.recorder.hasEnded && harness.connections("gateway").isEmpty
      }
      #expect(client.recorder.received.isEmpty)
      #expect(harness.broker.counters.accepted == 2000)
    }

    @Test("a provider that vanishes in the middle of a frame leaves what it sent before, and no more")
    func vanish() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      for reset in [false, true] {
        let before = harness.broker.counters
        let client = try harness.provider()
        let frame = Frames.full(token, id: 1)
        client.send(frame + frame.dropLast())
        harness.turn(until: "the first is taken") { harness.broker.counters.accepted == before.accepted + 1 }
        client.connection.abort("the test vanishes", reset: reset)
        harness.turn(until: "the gateway notices") { harness.connections("gateway").isEmpty }
        #expect(harness.broker.counters.received == before.received + 1)
      }
    }

    @Test("connections do not disturb each other")
    func parallel() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let clients = try (0..<8).map { _ in try harness.provider() }
      let frame = Frames.full(token, id: 1)
      for index in frame.indices {
        for client in clients { client.send([frame[index]]) }
        harness.loop.runTurn(wait: false)
      }
      clients[3].send(BadFrame.all[0].frame)
      #expect(clients[3].readToEnd() == BadFrame.all[0].packet)
      harness.turn(until: "all are accepted") { harness.broker.counters.accepted == 8 }
      #expect(clients.enumerated().allSatisfy { $0.offset == 3 || !$0.element.recorder.hasEnded })
    }

    @Test("a frame without an expiry is kept for 30 days, one with expiry 0 or in the past not at all")
    func expiry() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let row = try #require(harness.broker.registry.find(token))
      let past = UInt32(harness.clock.now().seconds - 1)
      let client = try harness.provider()
      for expiry in [0, past] as [UInt32] {
        client.send(Frames.full(token, id: 1, expiry: expiry))
        harness.turn(until: "it is dropped") { harness.broker.counters.discarded > 0 }
        #expect(harness.broker.deliveries.stored(row) == nil)
      }
      client.send(LegacyEncoder.simple(token: token.bytes, payload: Frames.payload))
      harness.turn(until: "it is kept") { harness.broker.deliveries.stored(row) != nil }
      let kept = try #require(harness.broker.deliveries.stored(row))
      #expect(kept.head.expiresAt == kept.head.receivedAt.adding(seconds: 30 * 86_400))
      harness.clock.advance(nanoseconds: 30 * 86_400 * 1_000_000_000 + 1)
      harness.turn(until: "housekeeping drops it") { harness.broker.deliveries.stored(row) == nil }
      #expect(harness.broker.counters.expired == 1)
    }
  }

  @Suite("Gateway, shutdown")
  struct GatewayShutdownTests {
    @Test("shutting down tells each provider the last identifier that was accepted, then ends")
    func lastAccepted() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let first = try harness.provider()
      let second = try harness.provider()
      first.send(Frames.full(token, id: 1) + Frames.full(token, id: 2))
      second.send(Frames.full(token, id: 0xdead_beef) + Frames.full(token, id: 3).dropLast())
      harness.turn(until: "three are accepted") { harness.broker.counters.accepted == 3 }
      harness.stop()
      #expect(first.readToEnd() == bytes("080a00000002"))
      #expect(second.readToEnd() == bytes("080adeadbeef"))
    }

    @Test("a provider of which nothing was accepted hears no packet")
    func nothingAccepted() throws {
      let harness = try EmulatorHarness()
      let client = try harness.provider()
      harness.stop()
      #expect(client.readToEnd().isEmpty)
    }

    @Test("a provider that only sends command 0 hears no packet: it has no identifiers to make sense of")
    func onlySimple() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let simple = LegacyEncoder.simple(token: token.bytes, payload: Frames.payload)
      let client = try harness.provider()
      let mixed = try harness.provider()
      client.send(simple)
      mixed.send(Frames.full(token, id: 5) + simple)
      harness.turn(until: "three are accepted") { harness.broker.counters.accepted == 3 }
      harness.stop()
      #expect(client.readToEnd().isEmpty)
      #expect(mixed.readToEnd() == bytes("080a00000005"))
    }

    @Test("nobody can connect any more once it has begun")
    func refused() throws {
      let harness = try EmulatorHarness()
      let gateway = try harness.address("gateway")
      let provider = try harness.provider()
      harness.stop()
      #expect(provider.readToEnd().isEmpty)
      let recorder = Recorder()
      let late = try? TLSClient.connect(
        loop: harness.loop, to: gateway, serverName: nil, context: harness.context(.app()), handler: recorder)
      harness.turn(until: "it is refused") { late == nil || recorder.hasEnded }
      #expect(!recorder.hasOpened)
    }
  }
}
