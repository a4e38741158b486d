import CourierWire
import Credentials
import PushModel
import Testing

import Broker
import Emulator
import Transport

extension LiveTests {
  @Suite("Courier, older and newer devices")
  struct CourierProtocolTests {
    /// The certificate and key of a device, for the handshake.
    private func certificate(_ udid: String, _ harness: EmulatorHarness) throws -> ClientCertificate {
      _ = try harness.identity(udid)
      let base = harness.certs + "/devices/" + udid
      return ClientCertificate(certificate: base + ".pem", key: base + ".key")
    }

    /// A device that says no more in connect than what every device says (`Documentation/device-protocol.md#transport`,
    /// `#connect`): items 2 and 5.
    private func old(
      _ harness: EmulatorHarness, alpn: [String], certificate: ClientCertificate?
    ) throws -> DeviceClient {
      let device = try DeviceClient(harness, alpn: alpn, certificate: certificate)
      device.open()
      device.send(bytes("07 0000000b 02 0001 01 05 0004 00000041"))
      harness.turn(until: "the courier answers") { device.welcome != nil || device.recorder.hasEnded }
      return device
    }

    /// From the first token to the last acknowledgement; answers the app's token.
    private func useEverything(_ device: DeviceClient, _ harness: EmulatorHarness) throws -> DeviceToken {
      let token = try device.mint(Site.topic)
      device.filter([Site.topic])
      harness.turn(until: "it is told that nothing is stored") { device.count(.noStorage) == 1 }
      let provider = try harness.provider()
      let count = 300
      provider.send((1...count).flatMap { Frames.full(token, id: UInt32($0), payload: Frames.text("\($0)")) })
      device.acknowledgeAll(until: "all arrive") { $0.payload == Frames.text("\(count)") }
      harness.turn(until: "all are acknowledged") { !harness.broker.deliveries.hasUnacknowledged }
      #expect(device.messages.map(\.payload) == (1...count).map { Frames.text("\($0)") })
      #expect(device.messages.allSatisfy { $0.token == token && $0.priority == 10 && $0.expiry != nil })
      #expect(harness.broker.counters.delivered == UInt64(count))
      return token
    }

    @Test(
      "a device that shows its certificate in the handshake is the same as one that shows it inside",
      arguments: [["apns-security-v2"], []])
    func certificateInHandshake(alpn: [String]) throws {
      let harness = try EmulatorHarness()
      let device = try old(harness, alpn: alpn, certificate: certificate("phone-1", harness))
      #expect(device.welcome?.status == 0)
      let token = try useEverything(device, harness)
      let base = try #require(device.baseToken)
      device.disconnect()
      let modern = try harness.device(offering: base)
      #expect(modern.welcome?.baseToken == nil, "it has the same base token")
      #expect(try modern.mint(Site.topic) == token)
    }

    @Test("without a certificate in the handshake there must be a proof inside, whatever the name")
    func noCertificate() throws {
      let harness = try EmulatorHarness()
      for alpn in [["apns-security-v2"], [], ["apns-security-v3"], ["apns-pack-v1"]] {
        let device = try old(harness, alpn: alpn, certificate: nil)
        #expect(device.welcome?.status == 2, "\(alpn)")
        harness.turn(until: "it ends") { device.recorder.hasEnded }
        let proving = try DeviceClient(harness, alpn: alpn)
        #expect(try proving.connect(harness.identity("phone-1")).status == 0, "\(alpn)")
      }
    }

    @Test("who agrees on a proof inside is not asked for a certificate in the handshake")
    func notAsked() throws {
      let harness = try EmulatorHarness()
      for alpn in ["apns-security-v3", "apns-pack-v1"] {
        let device = try old(harness, alpn: [alpn], certificate: certificate("phone-1", harness))
        #expect(device.welcome?.status == 2, "\(alpn)")
      }
    }

    @Test("a proof inside says who the device is, also where the handshake said something else")
    func proofCounts() throws {
      let harness = try EmulatorHarness()
      let expected = try harness.device("phone-2").baseToken
      let device = try DeviceClient(
        harness, alpn: ["apns-security-v2"], certificate: certificate("phone-1", harness))
      #expect(try device.connect(harness.identity("phone-2")).baseToken == expected)
    }

    @Test(
      "a certificate of the handshake that is not a device's of ours gets status 2; the handshake itself succeeds"
    )
    func foreignCertificate() throws {
      let harness = try EmulatorHarness()
      for certificate in [
        try ClientCertificate.app(), try .foreign(by: ClientCertificate.ca(), name: "foreign-device"),
      ] {
        let device = try old(harness, alpn: ["apns-security-v2"], certificate: certificate)
        #expect(device.welcome?.status == 2)
        harness.turn(until: "it ends") { device.recorder.hasEnded }
      }
      #expect(harness.broker.registry.devices.isEmpty)
    }

    @Test(
      "a device that speaks the packed form gets and says everything",
      arguments: ["apns-pack-v1", "apns-pack-v1:4096:4096", "apns-pack-v1:0:0", "apns-pack-v1:16384:100"])
    func packed(alpn: String) throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness, alpn: [alpn])
      #expect(try device.connect(harness.identity("phone-1")).status == 0)
      #expect(device.connection.alpn == alpn)
      let token = try useEverything(device, harness)
      device.disconnect()
      let provider = try harness.provider()
      provider.send(Frames.full(token, id: 1, payload: Frames.text("kept")))
      harness.turn(until: "it is kept") { harness.broker.counters.stored == 1 }
      let again = try DeviceClient(harness, alpn: [alpn])
      try again.connect(harness.identity("phone-1"))
      again.filter([Site.topic])
      again.waitForMessages(1)
      #expect(again.messages[0].payload == Frames.text("kept") && again.messages[0].isFromStore)
    }

    /// `Documentation/device-protocol.md#packed-form`: `0c 00` asks, and an empty `0d` answers.
    @Test("the bytes of the packed form are those of the documentation, in any pieces")
    func packedBytes() throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness, alpn: ["apns-pack-v1"])
      device.open()
      device.connection.send(bytes("0c 00"))
      harness.turn(until: "it is answered") { !device.recorder.received.isEmpty }
      #expect(device.recorder.received == bytes("0d 00"))
      for byte in bytes("0c 00 0c 00") {
        device.connection.send([byte])
        harness.loop.runTurn(wait: false)
      }
      harness.turn(until: "both are answered") { device.recorder.received.count == 6 }
      #expect(device.recorder.received == bytes("0d 00 0d 00 0d 00"))
    }

    @Test(
      "what can't be unpacked ends the connection",
      arguments: [
        "0c ff ffffffff 7f", "07 ff 81 80 01", "0c 02 81 05", "0c 01 3f", "0c 02 01 f0", "0c 03 01 3e 00",
      ])
    func malformed(hex: String) throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness, alpn: ["apns-pack-v1"])
      device.open()
      device.connection.send(bytes(hex))
      harness.turn(until: "it ends") { device.recorder.hasEnded }
      #expect(device.recorder.sawClose && device.recorder.received.isEmpty)
    }

    @Test("a broadcast reaches a device that speaks the packed form")
    func packedBroadcast() throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness, alpn: ["apns-pack-v1"])
      try device.connect(harness.identity("phone-1"))
      _ = try device.mint(Site.topic)
      device.filter([Site.topic])
      device.roundTrip()
      harness.passPause()
      let session = try #require(harness.broker.registry.devices.first?.session(in: .sandbox))
      let topic = try #require(harness.broker.registry.knownTopic(hashed: .app()))
      let key = ChannelTable.Key(topic: topic, environment: session.environment, id: [7])
      harness.broker.channels.create(key, storesNewest: false)
      #expect(harness.broker.broadcasts.join(session, key, seenUntil: nil, now: harness.clock.now()))
      let payload = Frames.text("broadcast")
      payload.withUnsafeBytes { payload in
        let submission = Submission(
          interface: .provider, topic: topic, environment: session.environment,
          token: .none, payload: payload.span)
        _ = harness.broker.broadcasts.send(submission, to: key, storageSeconds: 0, now: harness.clock.now())
      }
      device.waitForMessages(1)
      #expect(device.messages[0].payload == payload && device.messages[0].channel?.id == [7])
    }
  }
}
