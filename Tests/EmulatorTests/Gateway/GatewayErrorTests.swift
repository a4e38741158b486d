import Basics
import LegacyWire
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  @Suite("Gateway, errors")
  struct GatewayErrorTests {
    /// How the bytes of a test reach the gateway.
    enum Cut: CaseIterable {
      case whole, singleBytes, insideLengths, odd

      func sizes(_ count: Int) -> [Int] {
        switch self {
        case .whole: [count]
        case .singleBytes: [Int](repeating: 1, count: count)
        // The command and a part of the length field behind it.
        case .insideLengths: [3, 9, 1]
        case .odd: [7, 1, 31, 2, 1, 13, 64, 5]
        }
      }
    }

    @Test("every bad frame is answered with its packet alone, then the stream ends", arguments: Cut.allCases)
    func packets(cut: Cut) throws {
      let harness = try EmulatorHarness()
      for bad in BadFrame.all {
        let client = try harness.provider()
        client.send(bad.frame, in: cut.sizes(bad.frame.count))
        #expect(client.readToEnd() == bad.packet ?? [], "\(bad.testDescription)")
      }
      harness.turn(until: "nothing is left open") { harness.connections("gateway").isEmpty }
    }

    @Test("what comes before a bad frame is taken in silence, what comes after it is not looked at")
    func pipelined() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      for bad in BadFrame.all {
        let before = harness.broker.counters
        let client = try harness.provider()
        let good = (1...3).flatMap { Frames.full(token, id: $0) }
        client.send(good + bad.frame + Frames.full(token, id: 4) + bad.frame)
        #expect(client.readToEnd() == bad.packet ?? [], "\(bad.testDescription)")
        #expect(harness.broker.counters.accepted == before.accepted + 3, "\(bad.testDescription)")
        #expect(harness.broker.counters.rejected == before.rejected + 1, "\(bad.testDescription)")
      }
    }

    @Test("four frames in one write, the third for an unknown token: two delivered, its identifier, end")
    func thirdIsBad() throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      let unknown = try #require(DeviceToken(bytes: Frames.unknownToken))
      let client = try harness.provider()
      client.send(
        [(token, 1), (token, 2), (unknown, 3), (token, 4)].flatMap { token, id in
          Frames.full(token, id: id, payload: Frames.text("\(id)"))
        })
      #expect(client.readToEnd() == bytes("080800000003"))
      device.waitForMessages(2)
      device.roundTrip()
      #expect(device.messages.map(\.payload) == [Frames.text("1"), Frames.text("2")])
    }

    @Test("a provider with megabytes more in flight still reads the packet and an orderly end")
    func megabytesInFlight() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let unknown = try #require(DeviceToken(bytes: Frames.unknownToken))
      let client = try harness.provider()
      client.send(Frames.full(unknown, id: 7))
      let more = Frames.full(token, id: 8, payload: [UInt8](repeating: 0x20, count: 2048))
      for _ in 0..<8 { client.send((0..<500).flatMap { _ in more }) }
      #expect(client.readToEnd() == bytes("080800000007"))
      #expect(harness.broker.counters.received == 1)
      harness.turn(until: "the gateway has let go") { harness.connections("gateway").isEmpty }
    }

    @Test("a provider that only writes, and never reads, is drained and then dropped")
    func onlyWrites() throws {
      let harness = try EmulatorHarness()
      let client = try harness.provider()
      client.connection.setPaused(true)
      client.send(BadFrame.all[0].frame)
      harness.turn(until: "the gateway lingers") {
        harness.connections("gateway").contains(where: \.isLingering)
      }
      // The end of its timeout, without waiting for it.
      for connection in harness.connections("gateway") { connection.deadline = .distantPast }
      harness.turn(until: "it is dropped") { harness.connections("gateway").isEmpty }
    }

    @Test("a certificate without a topic gets status 3 for its first frame")
    func withoutTopic() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      for isLenient in [false, true] {
        let harness = isLenient ? try EmulatorHarness { $0.credentials.isLenient = true } : harness
        let client = try harness.provider(.withoutTopic())
        client.send(Frames.full(token, id: 42) + Frames.full(token, id: 43))
        #expect(client.readToEnd() == bytes("08030000002a"))
        #expect(harness.broker.counters.received == 1)
      }
    }

    @Test("token and payload are checked before the topic, the topic before the token is looked up")
    func orderWithoutTopic() throws {
      let harness = try EmulatorHarness()
      for bad in BadFrame.all {
        let client = try harness.provider(.withoutTopic())
        client.send(bad.frame)
        var expected = bad.packet
        if let packet = expected, packet[1] == 8 { expected = [8, 3] + packet[2...] }
        #expect(client.readToEnd() == expected ?? [], "\(bad.testDescription)")
      }
    }

    @Test(
      "a token of another app, of the other environment, or of another topic of the certificate is unknown")
    func foreignTokens() throws {
      let harness = try EmulatorHarness()
      let other = try harness.offlineToken(topic: "com.example.other")
      let second = try harness.offlineToken(topic: "com.example.second")
      let production = try harness.offlineToken(serverName: "courier.push.apple.com")
      for (token, certificate) in [
        (other, try ClientCertificate.app()), (production, try .app()), (second, try .several()),
      ] {
        let client = try harness.provider(certificate)
        client.send(Frames.full(token, id: 42))
        #expect(client.readToEnd() == bytes("08080000002a"))
      }
    }

    @Test(
      "the limits of an operator hold: shorter payloads, only one token length, the identifier of an empty token"
    )
    func limits() throws {
      let harness = try EmulatorHarness {
        $0.legacy.payload = 256
        $0.legacy.tokenLengths = 32...32
        $0.legacy.forgetsIdentifierOfEmptyToken = false
      }
      let token = try harness.offlineToken()
      let cases: [([UInt8], [UInt8], String)] = [
        (token.bytes, [UInt8](repeating: 0x20, count: 257), "08070000002a"),
        (token.bytes + [0], Frames.payload, "08050000002a"), ([], Frames.payload, "08020000002a"),
      ]
      for (token, payload, packet) in cases {
        let client = try harness.provider()
        client.send(LegacyEncoder.frame(token: token, payload: payload, identifier: 42))
        #expect(client.readToEnd() == bytes(packet))
      }
      let client = try harness.provider()
      client.send(
        LegacyEncoder.frame(token: token.bytes, payload: [UInt8](repeating: 0x20, count: 256), identifier: 42)
      )
      harness.turn(until: "256 bytes are taken") { harness.broker.counters.accepted == 1 }
    }
  }
}
