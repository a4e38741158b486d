import Basics
import Broker
import LegacyWire
import Platform
import PushModel
import TestSupport
import Testing

import Emulator
import Transport

extension LiveTests {
  @Suite("Feedback")
  struct FeedbackTests {
    /// Removes an app while its device is there, pushes once, and so has the device report the token gone.
    private func reportGone(
      _ harness: EmulatorHarness, _ udid: String = "phone-1", topic: String = Site.topic,
      _ certificate: ClientCertificate? = nil
    ) throws -> DeviceToken {
      let device = try harness.device(udid)
      let token = try device.mint(topic)
      device.filter([topic])
      device.roundTrip()
      try harness.remove(topic, from: udid)
      let before = harness.broker.feedback.rows.count
      let client = try harness.provider(certificate ?? .app(topic))
      client.send(Frames.full(token, id: 1))
      harness.turn(until: "the device reports it") { harness.broker.feedback.rows.count > before }
      client.connection.close()
      device.disconnect()
      #expect(device.messages.isEmpty)
      return token
    }

    @Test(
      "an app removed and then pushed to is told once: one tuple with its token and the time, then nothing")
    func once() throws {
      let harness = try EmulatorHarness()
      harness.clock.setFrozen(true)
      harness.clock.set(Timestamp(seconds: 1_800_000_000))
      let token = try reportGone(harness)
      harness.clock.advance(nanoseconds: 60_000_000_000)
      let client = try LegacyClient(harness, listener: "feedback", .app())
      try client.open()
      // Time, length, token: 38 bytes (spec B).
      #expect(client.readToEnd() == bytes("6b49d200 0020 \(token.hex)"))
      #expect(try harness.readFeedback().isEmpty)
    }

    @Test("removing an app is not told before it was pushed to while the device is there")
    func notBefore() throws {
      let harness = try EmulatorHarness()
      let (device, token) = try harness.listener()
      try harness.remove(Site.topic, from: "phone-1")
      #expect(try harness.readFeedback().isEmpty)
      device.disconnect()
      let client = try harness.provider()
      client.send(Frames.full(token, id: 1))
      harness.turn(until: "it is kept") { harness.broker.counters.stored == 1 }
      #expect(try harness.readFeedback().isEmpty)
      // The stored notification is tried when the device is back.
      let again = try harness.device()
      again.filter([Site.topic])
      again.roundTrip()
      #expect(again.messages.isEmpty)
      #expect(try harness.readFeedback().map(\.token) == [token.bytes])
    }

    @Test("two tuples come one behind the other in one TLS record")
    func twoInOneRecord() throws {
      let harness = try EmulatorHarness()
      let tokens = try ["phone-1", "phone-2"].map { try reportGone(harness, $0) }
      let client = try LegacyClient(harness, listener: "feedback", .app())
      var chunks: [Int] = []
      client.recorder.onReceived = { chunks.append($0.count) }
      try client.open()
      var received = client.readToEnd()
      #expect(received.count == 76 && chunks == [76])
      #expect(FeedbackTuple.take(from: &received).map(\.token) == tokens.map(\.bytes))
    }

    @Test("an empty list ends at once, without a byte")
    func empty() throws {
      let harness = try EmulatorHarness()
      #expect(try harness.readFeedback().isEmpty)
      harness.turn(until: "nothing is left open") { harness.connections("feedback").isEmpty }
    }

    @Test("a reader sees only its certificate's topics and environment, and clears only those")
    func scope() throws {
      let harness = try EmulatorHarness()
      let app = try reportGone(harness)
      let other = try reportGone(harness, topic: "com.example.other")
      let second = try reportGone(harness, topic: "com.example.second")
      let production = "feedback.push.apple.com"
      #expect(try harness.readFeedback(.app(), serverName: production).isEmpty)
      #expect(try harness.readFeedback(.app("com.example.other")).map(\.token) == [other.bytes])
      #expect(try harness.readFeedback(.several()).map(\.token) == [app.bytes, second.bytes])
      for topic in [Site.topic, "com.example.other", "com.example.second"] {
        #expect(try harness.readFeedback(.app(topic)).isEmpty)
      }
    }

    @Test("expired, undelivered and switched-off notifications are no reason for an entry")
    func noReason() throws {
      let harness = try EmulatorHarness()
      let device = try harness.device()
      let token = try device.mint(Site.topic)
      let client = try harness.provider()
      client.send(Frames.full(token, id: 1, expiry: 0))
      harness.turn(until: "it is dropped") { harness.broker.counters.discarded == 1 }
      device.disconnect()
      client.send(Frames.full(token, id: 2, expiry: UInt32(harness.clock.now().seconds + 5)))
      harness.turn(until: "it is kept") { harness.broker.counters.stored == 1 }
      harness.clock.advance(nanoseconds: 10_000_000_000)
      harness.turn(until: "it expires") { harness.broker.counters.expired == 1 }
      #expect(try harness.readFeedback().isEmpty)
    }

    @Test(
      "a long list comes whole, no tuple across records, and is cleared once it was written",
      arguments: [false, true])
    func long(endsItsSide: Bool) throws {
      let harness = try EmulatorHarness()
      let count = 3000
      let tokens = try harness.goneTokens(count)
      let client = try LegacyClient(harness, listener: "feedback", .app())
      var chunks: [Int] = []
      client.recorder.onReceived = { chunks.append($0.count) }
      if endsItsSide { client.recorder.onOpened = { $0.endOutput() } }
      try client.open()
      var received = client.readToEnd()
      #expect(received.count == 38 * count)
      #expect(chunks.allSatisfy { $0.isMultiple(of: 38) } && chunks.count > 1)
      #expect(FeedbackTuple.take(from: &received).map(\.token) == tokens.map(\.bytes))
      #expect(harness.broker.feedback.rows.isEmpty)
    }

    @Test("a reader that vanishes before all was written has cleared nothing", arguments: [false, true])
    func vanished(reset: Bool) throws {
      let harness = try EmulatorHarness()
      let count = 4000
      _ = try harness.goneTokens(count)
      let client = try LegacyClient(harness, listener: "feedback", .app())
      // Small buffers, and nobody who reads: the list can't leave whole.
      SocketCalls.setReceiveBuffer(client.connection.descriptor, bytes: 4096)
      client.recorder.onOpened = { $0.setPaused(true) }
      harness.turn(until: "the emulator writes") {
        for connection in harness.connections("feedback") { connection.setSendBuffer(4096) }
        return client.recorder.hasOpened
      }
      harness.settle()
      #expect(harness.connections("feedback").contains { $0.queuedBytes > 0 })
      client.connection.abort("the test vanishes", reset: reset)
      harness.turn(until: "the emulator notices") { harness.connections("feedback").isEmpty }
      #expect(harness.broker.feedback.rows.count == count)
      #expect(try harness.readFeedback().count == count)
      #expect(harness.broker.feedback.rows.isEmpty)
    }

    @Test("a reader that is slow gets all of it, and only then is the list cleared")
    func slow() throws {
      let harness = try EmulatorHarness()
      _ = try harness.goneTokens(4000)
      let client = try LegacyClient(harness, listener: "feedback", .app())
      SocketCalls.setReceiveBuffer(client.connection.descriptor, bytes: 4096)
      client.recorder.onOpened = { $0.setPaused(true) }
      harness.turn(until: "the emulator writes") {
        for connection in harness.connections("feedback") { connection.setSendBuffer(4096) }
        return client.recorder.hasOpened
      }
      harness.settle()
      #expect(harness.broker.feedback.rows.count == 4000)
      client.connection.setPaused(false)
      #expect(client.readToEnd().count == 38 * 4000)
      #expect(harness.broker.feedback.rows.isEmpty)
    }

    @Test("a reader that talks is not listened to")
    func talkative() throws {
      let harness = try EmulatorHarness()
      let client = try LegacyClient(harness, listener: "feedback", .app())
      client.recorder.onOpened = { $0.send([UInt8](repeating: 1, count: 100_000)) }
      try client.open()
      #expect(client.readToEnd().isEmpty)
    }
  }
}

extension EmulatorHarness {
  /// What a person does to an app on a phone.
  func remove(_ topic: String, from udid: String, in environment: Environment = .sandbox) throws {
    let device = try #require(UDID(udid).flatMap { broker.registry.knownDevice($0) })
    let app = try #require(Topic(topic).flatMap { broker.registry.topic(named: $0) })
    _ = broker.apps.change(.remove, device: device, topic: app, environment: environment, now: clock.now())
  }

  /// Many devices that have reported the app gone. Their connections are of no matter here.
  func goneTokens(_ count: Int) throws -> [DeviceToken] {
    let topic = try #require(Topic(Site.topic).flatMap { broker.registry.topic(named: $0) })
    let outlet = TestDevice(connectedAt: clock.now())
    return try (0..<count).map { index in
      let link = DeviceLink(outlet: outlet)
      let udid = try #require(UDID("gone-\(index)"))
      let connected = try #require(
        broker.devices.connect(
          udid, keyFingerprint: [1], environment: .sandbox, offeredBaseToken: nil,
          link: link, now: clock.now()))
      let session = connected.session
      let hash = broker.registry[topic].hash
      let token = try #require(broker.apps.appToken(session, topic: hash, now: clock.now()))
      _ = broker.apps.change(
        .remove, device: session.device, topic: topic, environment: .sandbox, now: clock.now())
      token.bytes.withUnsafeBytes { bytes in
        _ = broker.routing.submit(
          Submission(
            interface: .gateway, topic: topic, environment: .sandbox, token: bytes.span, payload: .none),
          now: clock.now())
      }
      broker.devices.sessionEnded(session, now: clock.now())
      return token
    }
  }
}
