import Basics
import Courier
import CourierWire
import Platform
import PushModel
import Testing

import Broker
import Emulator
import Transport

extension LiveTests {
  @Suite("Courier, peers that misbehave")
  struct CourierAbuseTests {
    private static func noise(_ count: Int) -> [UInt8] {
      var state: UInt64 = 42
      return (0..<count).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 56)
      }
    }

    /// The emulator's side of the only device connection.
    private func served(_ harness: EmulatorHarness) throws -> (SocketConnection, any ConnectionHandler) {
      let connection = try #require(harness.connections("courier").first)
      return (connection, try #require(connection.handler))
    }

    @Test("whatever a stranger sends instead of a proof ends its connection, without an answer")
    func strangers() throws {
      let harness = try EmulatorHarness()
      let base = Hex.encode(Frames.unknownToken)
      let greetings: [(String, [UInt8])] = [
        ("a filter", bytes("09 00000023 01 0020 \(base)")),
        ("a token request", bytes("11 0000003a 01 0020 \(base) 02 0014 \(base.prefix(40))")),
        (
          "an upstream message",
          bytes("0a 00000045 01 0014 \(base.prefix(40)) 02 0020 \(base) 03 0001 00 04 0004 00000001")
        ),
        ("a frame longer than any connect", bytes("07 00004001")),
        ("the longest frame there is", bytes("0c ffffffff")),
        ("a connect with an item beyond its end", bytes("07 00000004 01 0020 00")),
        ("a connect with half an item", bytes("07 00000002 0100")),
        ("noise", Self.noise(100_000)), ("HTTP", Array("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)),
        ("more keep-alives than a stranger may", (0..<8000).flatMap { _ in bytes("0c 00000000") }),
      ]
      for (name, greeting) in greetings {
        let device = try DeviceClient(harness)
        device.open()
        device.send(greeting)
        harness.turn(until: "\(name) is dropped") { device.recorder.hasEnded }
        #expect(device.frames.allSatisfy { $0.command == 0x0d }, "\(name)")
        harness.turn(until: "nothing is left") { harness.connections("courier").isEmpty }
      }
      #expect(harness.broker.registry.devices.isEmpty && harness.broker.registry.topics.isEmpty)
    }

    @Test(
      "names that a device tells are kept with the tokens that it has, and topics that it listens to with channels"
    )
    func toldNames() throws {
      let harness = try EmulatorHarness()
      let (app, other) = (try #require(Topic(Site.topic)), try #require(Topic("an.invented.name")))
      let device = try DeviceClient(harness)
      try device.connect(harness.identity("phone-1")) { $0.topicNames = [app, other] }
      let base = try #require(device.baseToken)
      let subscription = ChannelSubscription(
        index: 1, entries: [.init(topic: other.name, join: [.init(id: [1])])], baseToken: base)
      device.send(subscription)
      device.roundTrip()
      #expect(harness.broker.registry.topics.isEmpty && device.confirmations.map(\.status) != [0])
      device.send(AppTokenRequest(baseToken: base, topic: TopicHash(app), topicName: other))
      device.roundTrip()
      #expect(harness.broker.registry.topics.map(\.label) == ["sha1:\(TopicHash(app).hex)"])
      device.send(AppTokenRequest(baseToken: base, topic: TopicHash(app), topicName: app))
      device.roundTrip()
      #expect(harness.broker.registry.topics.map(\.label) == [Site.topic])
    }

    @Test("a stranger's proof in single bytes is read as one")
    func dribbled() throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness)
      device.open()
      for byte in try ConnectRequest.proving(harness.identity("phone-1")).encoded { device.send([byte]) }
      harness.turn(until: "it is welcomed") { device.welcome?.status == 0 }
    }

    @Test("a second proof before the first is judged, or a broken one later, ends the connection")
    func brokenLater() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      device.send(bytes("07 00000004 01 0020 00"))
      harness.turn(until: "it ends") { device.recorder.hasEnded }
      #expect(device.recorder.sawClose)
      harness.settle()
      let gone = try #require(UDID("phone-1").flatMap { harness.broker.registry.knownDevice($0) })
      #expect(!harness.broker.registry[gone].isOnline)
    }

    @Test(
      "a device that acknowledges what it was never sent is heard a thousand times, then its connection ends")
    func strayAcknowledgements() throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      let provider = try harness.provider()
      let count = DeviceLink.windowLimit
      provider.send((1...count).flatMap { Frames.full(token, id: UInt32($0), payload: Frames.text("\($0)")) })
      harness.turn(until: "all are taken") { harness.broker.counters.received == UInt64(count) }
      let strays = (0..<1000).flatMap { Acknowledgement(messageId: 0x7000_0000 + UInt32($0)).encoded }
      device.send(strays)
      device.roundTrip()
      #expect(!device.recorder.hasEnded)
      device.send(strays)
      harness.turn(until: "it ends") { device.recorder.hasEnded }
      let again = try harness.returningDevice()
      again.waitForMessages(1)
      #expect(again.messages[0].payload == Frames.text("\(count)"), "nothing is lost with it")
    }

    @Test("a read full of costly frames is looked at in parts, and another device is answered between them")
    func costlyFrames() throws {
      let harness = try EmulatorHarness()
      let busy = try harness.device()
      let (connection, _) = try served(harness)
      let other = try harness.device("phone-2")
      // No time at all: each turn looks at two frames.
      harness.loop.readTimes = .init(turn: 0, quietTurn: 0, least: 0)
      busy.send((0..<2000).flatMap { _ in FilterUpdate(baseToken: nil).encoded })
      harness.turn(until: "the first were looked at") { connection.leftByteCount > 0 }
      other.roundTrip()
      #expect(connection.leftByteCount > 0)
      harness.loop.readTimes = .init()
      busy.roundTrip()
      #expect(connection.leftByteCount == 0 && !busy.recorder.hasEnded)
    }

    @Test("a device that is found gone as the turn's messages leave costs nothing but its connection")
    func goneUnnoticed() throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      device.connection.setPaused(true)
      try served(harness).0.setSendBuffer(4096)
      try served(harness).0.send([UInt8](repeating: 0, count: 6 << 20))
      harness.settle()
      #expect(try served(harness).0.isBlocked)
      do {
        let (connection, handler) = try served(harness)
        handler.connection(connection, received: KeepAlive().encoded.span)
      }
      harness.emulator.turnEnd.run()
      harness.loop.flushClients()
      device.connection.abort("gone", reset: true)
      // Within the pause behind an answer, so that nothing is queued for the socket by it.
      try harness.submit(token.bytes)
      harness.emulator.turnEnd.run()
      #expect(harness.connections("courier").isEmpty)
      let again = try harness.returningDevice()
      again.waitForMessages(1)
    }

    @Test("a peer that does not prove itself in time is dropped")
    func tooLate() throws {
      let harness = try EmulatorHarness()
      let device = try DeviceClient(harness)
      device.open()
      let now = SystemClock.now()
      harness.emulator.courier.endOverdue(now.adding(seconds: 29))
      harness.settle()
      #expect(!device.recorder.hasEnded)
      harness.emulator.courier.endOverdue(now.adding(seconds: 31))
      harness.turn(until: "it is dropped") { device.recorder.hasEnded }
      #expect(device.frames.isEmpty)
    }

    @Test(
      "a device that says nothing for 25 minutes is still there, one that is silent for much longer is not")
    func idle() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      let (connection, _) = try served(harness)
      let now = SystemClock.now()
      harness.emulator.courier.endOverdue(now.adding(seconds: 25 * 60))
      device.roundTrip()
      #expect(!device.recorder.hasEnded && connection.deadline == .distantFuture)
      harness.emulator.courier.endOverdue(SystemClock.now().adding(seconds: 31 * 60))
      harness.turn(until: "it is dropped") { device.recorder.hasEnded }
    }

    @Test(
      "a device that asks without end and never reads costs a bounded number of bytes, and is answered when it reads"
    )
    func neverReads() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      let (connection, _) = try served(harness)
      connection.setSendBuffer(4096)
      device.connection.setPaused(true)
      let question = AppTokenRequest(baseToken: device.baseToken, topic: try .app()).encoded
      let count = 200_000
      for _ in 0..<(count / 1000) { device.send((0..<1000).flatMap { _ in question }) }
      var most = 0
      for _ in 0..<2000 {
        harness.loop.runTurn(wait: false)
        most = max(most, connection.queuedBytes)
      }
      #expect(most <= CourierOutput.limit + (1 << 20))
      #expect(connection.isPaused, "the courier has stopped reading")
      device.connection.setPaused(false)
      harness.turn(until: "all are answered") { device.tokenAnswers.count == count }
    }
  }
}
