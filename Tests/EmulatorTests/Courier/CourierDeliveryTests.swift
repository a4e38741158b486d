import Basics
import CourierWire
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  @Suite("Courier, delivery")
  struct CourierDeliveryTests {
    private static let other = "com.example.other"

    /// A device that listens to one topic, its token, and a provider.
    private func online(
      _ harness: EmulatorHarness
    ) throws -> (device: DeviceClient, token: DeviceToken, provider: LegacyClient) {
      let (device, token) = try harness.listener()
      return (device, token, try harness.provider())
    }

    @Test("a message has the items and widths that real clients insist on")
    func message() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      harness.clock.setFrozen(true)
      harness.clock.set(Timestamp(seconds: 1_700_000_000))
      provider.send(Frames.full(token, id: 42, expiry: 0x6553_f200))
      device.waitForMessages(1)
      let message = device.messages[0]
      let frame = try #require(device.frames.first { $0.command == 0x0a })
      // `Documentation/device-protocol.md#message`: token, topic, payload, id, expiry, time in nanoseconds, flags,
      // priority.
      let expected =
        "01 0020 \(token.hex) 02 0014 a003f1da17993ee51f2b3ceef6c6153afa8f3ec2"
        + "03 0016 7b22617073223a7b22616c657274223a224869227d7d"
        + "04 0004 \(Hex.encode(withUnsafeBytes(of: message.messageId.bigEndian) { Array($0) }))"
        + "05 0004 6553f200 06 0008 17979cfe362a0000 07 0001 00"
      let body = Hex.encode(frame.bytes.dropFirst(5))
      #expect(body.hasPrefix(Hex.encode(bytes(expected))), "\(body)")
      #expect(body.contains("0d00010a"))
    }

    @Test("only topics of the present filter are delivered, others wait until they are wanted")
    func onlyEnabled() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      let otherToken = try device.mint(Self.other)
      let otherProvider = try harness.provider(.app(Self.other))
      otherProvider.send(Frames.full(otherToken, id: 1))
      harness.turn(until: "it is kept") { harness.broker.counters.stored == 1 }
      provider.send(Frames.full(token, id: 2))
      device.waitForMessages(1)
      #expect(device.messages.map(\.token) == [token])
      // The filter replaces: now the other alone.
      device.filter([Self.other])
      device.waitForMessages(2)
      #expect(device.messages.last?.token == otherToken)
      device.roundTrip()
      provider.send(Frames.full(token, id: 3))
      harness.turn(until: "it is kept") { harness.broker.counters.stored == 2 }
      device.filter([])
      device.roundTrip()
      otherProvider.send(Frames.full(otherToken, id: 4))
      harness.turn(until: "it is kept") { harness.broker.counters.stored == 3 }
      device.roundTrip()
      #expect(device.messages.count == 2)
    }

    @Test("what is acknowledged is deleted: nothing waits for the device when it comes back")
    func acknowledged() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      provider.send(Frames.full(token, id: 1))
      device.waitForMessages(1)
      device.acknowledge(device.messages[0])
      // Twice is harmless, and so is an id that nobody sent.
      device.acknowledge(device.messages[0])
      device.send(bytes("0b 0000000b 04 0004 7fffffff 08 0001 00"))
      device.roundTrip()
      #expect(harness.broker.counters.delivered == 1)
      device.disconnect()
      let again = try harness.returningDevice()
      harness.turn(until: "the courier says that nothing is stored") { again.count(.noStorage) == 1 }
      #expect(again.messages.isEmpty)
      #expect(
        again.frames.last?.bytes == bytes("0e 00000023 01 0020 \(try #require(again.baseToken).hex)"))
    }

    @Test("a device that was offline gets the newest message alone, once, and told as stored")
    func newestOnly() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let provider = try harness.provider()
      for id in 1...3 { provider.send(Frames.full(token, id: UInt32(id), payload: Frames.text("\(id)"))) }
      harness.turn(until: "all are kept") { harness.broker.counters.stored == 3 }
      let device = try harness.returningDevice()
      device.waitForMessages(1)
      #expect(device.messages[0].payload == Frames.text("3"))
      #expect(device.messages[0].storageFlags == 3 && device.messages[0].isFromStore)
      device.acknowledge(device.messages[0])
      device.filter([Site.topic])
      device.roundTrip()
      device.disconnect()
      let again = try harness.returningDevice()
      harness.turn(until: "nothing is stored any more") { again.count(.noStorage) == 1 }
      #expect(device.messages.count == 1 && again.messages.isEmpty)
    }

    @Test("stored messages of several topics come oldest first, and the last one says so")
    func severalTopics() throws {
      let harness = try EmulatorHarness()
      let topics = [Site.topic, Self.other, "com.example.second"]
      var tokens: [DeviceToken] = []
      for (index, topic) in topics.enumerated() {
        tokens.append(try harness.offlineToken(topic: topic))
        let provider = try harness.provider(.app(topic))
        provider.send(Frames.full(tokens[index], id: 1))
        harness.turn(until: "it is kept") { harness.broker.counters.stored == UInt64(index + 1) }
      }
      let device = try harness.returningDevice(topics.reversed())
      device.waitForMessages(3)
      #expect(device.messages.map(\.token) == tokens)
      #expect(device.messages.map(\.storageFlags) == [1, 1, 3])
      device.roundTrip()
      #expect(device.count(.noStorage) == 0)
    }

    @Test("what was not acknowledged when the connection ended comes again", arguments: [false, true])
    func comesAgain(vanishes: Bool) throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      provider.send(Frames.full(token, id: 1, payload: Frames.text("1")))
      device.waitForMessages(1)
      if vanishes {
        device.connection.abort("the test vanishes", reset: true)
        harness.turn(until: "the courier notices") { harness.connections("courier").isEmpty }
      } else {
        device.disconnect()
      }
      let again = try harness.returningDevice()
      again.waitForMessages(1)
      #expect(again.messages[0].payload == Frames.text("1") && again.messages[0].isFromStore)
    }

    @Test("an older message does not come again once a newer one was acknowledged")
    func notOlder() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      for id in 1...3 { provider.send(Frames.full(token, id: UInt32(id), payload: Frames.text("\(id)"))) }
      device.waitForMessages(3)
      device.acknowledge(device.messages[2])
      device.disconnect()
      let again = try harness.returningDevice()
      harness.turn(until: "nothing is stored") { again.count(.noStorage) == 1 }
      #expect(again.messages.isEmpty)
    }

    @Test("of several unacknowledged messages only the newest comes again")
    func onlyNewestAgain() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      for id in 1...3 { provider.send(Frames.full(token, id: UInt32(id), payload: Frames.text("\(id)"))) }
      device.waitForMessages(3)
      device.acknowledge(device.messages[0])
      device.disconnect()
      let again = try harness.returningDevice()
      again.waitForMessages(1)
      again.roundTrip()
      #expect(again.messages.map(\.payload) == [Frames.text("3")])
    }

    @Test("an acknowledgement with a status is a refusal: the message is kept for the next connection")
    func refusedMessage() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      provider.send(Frames.full(token, id: 1))
      device.waitForMessages(1)
      device.acknowledge(device.messages[0], status: 2)
      device.roundTrip()
      #expect(harness.broker.counters.delivered == 0)
      device.disconnect()
      let again = try harness.returningDevice()
      again.waitForMessages(1)
    }

    @Test("a message with expiry 0 reaches a device that is there, and is not stored for one that is offline")
    func expiryZero() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      provider.send(Frames.full(token, id: 1, expiry: 0))
      device.waitForMessages(1)
      #expect(device.messages[0].expiry == 0)
      device.disconnect()
      provider.send(Frames.full(token, id: 2, expiry: 0))
      harness.turn(until: "it is dropped") { harness.broker.counters.discarded == 2 }
      let again = try harness.returningDevice()
      harness.turn(until: "nothing is stored") { again.count(.noStorage) == 1 }
    }

    @Test("a message that expires while the device is offline is not delivered")
    func expired() throws {
      let harness = try EmulatorHarness()
      let token = try harness.offlineToken()
      let provider = try harness.provider()
      let expiry = UInt32(harness.clock.now().seconds + 3600)
      provider.send(Frames.full(token, id: 1, expiry: expiry))
      harness.turn(until: "it is kept") { harness.broker.counters.stored == 1 }
      harness.clock.advance(nanoseconds: 3601 * 1_000_000_000)
      let device = try harness.returningDevice()
      device.roundTrip()
      device.roundTrip()
      #expect(device.messages.isEmpty && harness.broker.counters.expired == 1)
    }

    @Test(
      "the newest connection of a device wins: the older one ends, what it had not acknowledged moves over")
    func newestWins() throws {
      let harness = try EmulatorHarness()
      let (older, token, provider) = try online(harness)
      provider.send(Frames.full(token, id: 1, payload: Frames.text("1")))
      older.waitForMessages(1)
      let newer = try harness.returningDevice()
      harness.turn(until: "the older one ends") { older.recorder.hasEnded }
      #expect(older.recorder.sawClose)
      newer.waitForMessages(1)
      #expect(newer.messages[0].payload == Frames.text("1"))
      newer.acknowledge(newer.messages[0])
      provider.send(Frames.full(token, id: 2, payload: Frames.text("2")))
      newer.waitForMessages(2)
      #expect(older.messages.count == 1 && !newer.recorder.hasEnded)
    }

    @Test("the same device in the other environment is another connection")
    func bothEnvironments() throws {
      let harness = try EmulatorHarness()
      let sandbox = try harness.device(serverName: "courier.sandbox.push.apple.com")
      let production = try harness.device(serverName: "courier.push.apple.com")
      sandbox.roundTrip()
      production.roundTrip()
      #expect(!sandbox.recorder.hasEnded && !production.recorder.hasEnded)
    }

    @Test("ten thousand messages arrive whole and in order while the device acknowledges")
    func many() throws {
      let harness = try EmulatorHarness()
      let (device, token, provider) = try online(harness)
      let count = 10_000
      for id in 1...count { provider.send(Frames.full(token, id: UInt32(id), payload: Frames.text("\(id)"))) }
      device.acknowledgeAll(until: "all arrive") { $0.payload == Frames.text("\(count)") }
      harness.turn(until: "the last is acknowledged") { !harness.broker.deliveries.hasUnacknowledged }
      // Nothing overtook anything, and nothing came twice; what was replaced while it waited may be missing.
      let ids = device.messages.map(\.messageId)
      #expect(zip(ids, ids.dropFirst()).allSatisfy { $0 < $1 })
      #expect(device.messages.count + Int(harness.broker.counters.replaced) == count)
      #expect(provider.recorder.received.isEmpty && harness.broker.counters.accepted == UInt64(count))
    }

    @Test("what a person does to an app reaches our own simulated device, and nobody else")
    func appChanges() throws {
      let harness = try EmulatorHarness()
      let plain = try harness.device("phone-2")
      let simulated = try DeviceClient(harness)
      _ = try simulated.connect(harness.identity("phone-1")) { $0.simulatedDevice = 1 }
      for (udid, device) in [("phone-1", simulated), ("phone-2", plain)] {
        _ = try device.mint(Site.topic)
        try harness.remove(Site.topic, from: udid)
      }
      harness.turn(until: "the simulated one hears of it") { !simulated.appChanges.isEmpty }
      plain.roundTrip()
      #expect(simulated.appChanges.map(\.action) == [.removed])
      #expect(simulated.appChanges[0].topicName?.name == Site.topic)
      #expect(plain.appChanges.isEmpty && plain.count(.appState) == 0)
    }
  }
}
