import Basics
import Broker
import Courier
import CourierWire
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  /// Broadcasts (`Documentation/provider-api.md#broadcast`), from the provider to the devices that listen.
  @Suite("Broadcasts")
  struct BroadcastTests {
    private static let path = "/4/broadcasts/apps/\(Site.topic)"

    private static func broadcast(_ channel: String, expiration: String = "0") -> ProviderRequest {
      var request = ProviderRequest(path: path)
      request.fields = [
        ("apns-channel-id", channel), ("apns-push-type", "LiveActivity"), ("apns-expiration", expiration),
        ("apns-priority", "10"), ("apns-request-id", ChannelManagementTests.ownID),
      ]
      request.body = Array(#"{"aps":{"event":"update"}}"#.utf8)
      return request
    }

    private func makeChannel(_ harness: EmulatorHarness, policy: Int = 0) throws -> String {
      let client = try HTTP2Client(harness, listener: "gateway", .app())
      let answer = try client.answer(ChannelManagementTests.request("POST", policy: policy))
      return try #require(answer["apns-channel-id"])
    }

    private func subscribe(
      _ device: DeviceClient, _ harness: EmulatorHarness, join: [CourierChannel] = [],
      leave: [CourierChannel] = [], replaces: Bool = false
    ) throws -> ChannelConfirmation {
      let entry = ChannelSubscription.TopicEntry(topic: Site.topic, join: join, leave: leave)
      let index = UInt32(device.confirmations.count + 1)
      let base = try #require(device.baseToken)
      device.send(ChannelSubscription(index: index, entries: [entry], replaces: replaces, baseToken: base))
      harness.turn(until: "the subscription is confirmed") { device.confirmations.count == Int(index) }
      let confirmation = try #require(device.confirmations.last)
      #expect(confirmation.index == index && confirmation.baseToken == base)
      return confirmation
    }

    private func channel(_ id: String, seen: UInt64? = nil) throws -> CourierChannel {
      CourierChannel(id: try #require(Base64.decode(id.utf8)), lastMessageTime: seen)
    }

    @Test("a broadcast reaches the two devices that listen and not the third")
    func twoOfThree() throws {
      let harness = try EmulatorHarness()
      let id = try makeChannel(harness)
      let other = try makeChannel(harness)
      let devices = try ["phone-1", "phone-2", "phone-3"].map { try harness.device($0) }
      let tokens = try devices.map { try $0.mint(Site.topic) }
      for device in devices.prefix(2) {
        #expect(try subscribe(device, harness, join: [channel(id)]).status == 0)
      }
      #expect(try subscribe(devices[2], harness, join: [channel(other)]).status == 0)
      let client = try HTTP2Client(harness)
      var request = Self.broadcast(id)
      request["authorization"] = try harness.bearer()
      let answer = try client.answer(request)
      #expect(answer.status == 200 && answer.body.isEmpty)
      #expect(answer["apns-request-id"] == ChannelManagementTests.ownID && answer["apns-id"] == nil)
      for device in devices.prefix(2) { device.waitForMessages(1) }
      for device in devices { device.roundTrip() }
      #expect(devices.map(\.messages.count) == [1, 1, 0])
      for (device, token) in zip(devices, tokens).prefix(2) {
        let message = device.messages[0]
        #expect(message.payload == request.body && message.priority == 10 && message.token == token)
        #expect(message.topic == (try .app()))
        #expect(message.channel?.id == Base64.decode(id.utf8) && message.channel?.lastMessageTime != nil)
      }
    }

    @Test("a simulated device hears that a broadcast is for a Live Activity, others what they know")
    func pushType() throws {
      let harness = try EmulatorHarness()
      let id = try makeChannel(harness)
      let capabilities = [nil, ConnectRequest.withoutPhone, ConnectRequest.withPhone]
      let devices = try capabilities.enumerated().map { number, capability in
        let device = try DeviceClient(harness)
        _ = try device.connect(harness.identity("phone-\(number)")) { $0.simulatedDevice = capability }
        #expect(try subscribe(device, harness, join: [channel(id)]).status == 0)
        return device
      }
      #expect(try HTTP2Client(harness, .app()).answer(Self.broadcast(id)).status == 200)
      for device in devices { device.waitForMessages(1) }
      let type = UInt16(PushType.liveactivity.rawValue)
      #expect(devices.map { $0.messages[0].pushType } == [nil, type, type])
      let newest = harness.broker.journal.nextId - 1
      #expect(devices.map { $0.messages[0].notificationId } == [nil, nil, newest])
    }

    @Test("a device that left, or listens to other channels now, gets no more")
    func leaving() throws {
      let harness = try EmulatorHarness()
      let id = try makeChannel(harness)
      let other = try makeChannel(harness)
      let device = try harness.device()
      let client = try HTTP2Client(harness, .app())
      _ = try subscribe(device, harness, join: [channel(id)])
      _ = try subscribe(device, harness, leave: [channel(id)])
      #expect(try client.answer(Self.broadcast(id)).status == 200)
      _ = try subscribe(device, harness, join: [channel(id)])
      _ = try subscribe(device, harness, join: [channel(other)], replaces: true)
      #expect(try client.answer(Self.broadcast(id)).status == 200)
      #expect(try client.answer(Self.broadcast(other)).status == 200)
      device.waitForMessages(1)
      device.roundTrip()
      #expect(device.messages.map { $0.channel?.id } == [Base64.decode(other.utf8)])
    }

    @Test("a channel that nobody made, or that was deleted, can't be joined")
    func unknownChannel() throws {
      let harness = try EmulatorHarness()
      let id = try makeChannel(harness)
      let client = try HTTP2Client(harness, listener: "gateway", .app())
      #expect(try client.answer(ChannelManagementTests.request("DELETE", channel: id)).status == 204)
      let device = try harness.device()
      #expect(try subscribe(device, harness, join: [channel(id)]).status != 0)
      #expect(try subscribe(device, harness, join: [CourierChannel(id: [1, 2, 3])]).status != 0)
    }

    @Test(
      "the newest broadcast waits for a device that was offline only where the channel stores, for eight hours"
    )
    func storage() throws {
      let harness = try EmulatorHarness()
      let client = try HTTP2Client(harness, .app())
      for policy in 0...1 {
        let id = try makeChannel(harness, policy: policy)
        for text in ["first", "second"] {
          var request = Self.broadcast(id, expiration: policy == 0 ? "0" : "4000000000")
          request.body = Array(text.utf8)
          #expect(try client.answer(request).status == 200)
        }
        let device = try harness.device()
        _ = try subscribe(device, harness, join: [channel(id)])
        harness.turn(milliseconds: 30)
        device.roundTrip()
        #expect(device.messages.map(\.payload) == (policy == 0 ? [] : [Array("second".utf8)]))
        guard policy == 1 else { continue }
        let seen = try #require(device.messages.last?.channel?.lastMessageTime)
        // What it has seen it does not get again, and nothing after eight hours.
        let again = try harness.device("phone-2")
        _ = try subscribe(again, harness, join: [channel(id, seen: seen)])
        harness.clock.advance(nanoseconds: 8 * 3600 * 1_000_000_000)
        let late = try harness.device("phone-3")
        _ = try subscribe(late, harness, join: [channel(id)])
        harness.turn(milliseconds: 30)
        again.roundTrip()
        late.roundTrip()
        #expect(again.messages.isEmpty && late.messages.isEmpty)
      }
    }

    private typealias Row = ChannelManagementTests.Row

    private static let mistakes: [Row] = [
      Row("GET", 405, "MethodNotAllowed") { $0.method = "GET" },
      Row("a part behind the app", 404, "BadPath") { $0.path += "/x" },
      Row("a field twice", 400, "DuplicateHeaders") { $0.fields.append(("apns-priority", "10")) },
      Row("a bad request id", 400, "BadMessageId") { $0["apns-request-id"] = "xyz" },
      Row("no token", 403, "MissingProviderToken") { $0["authorization"] = nil },
      Row("no push type", 400, "MissingPushType") { $0["apns-push-type"] = nil },
      Row("another push type", 400, "InvalidPushType") { $0["apns-push-type"] = "alert" },
      Row("no priority", 400, "BadPriority") { $0["apns-priority"] = nil },
      Row("priority 7", 400, "BadPriority") { $0["apns-priority"] = "7" },
      Row("no expiration", 400, "BadExpirationDate") { $0["apns-expiration"] = nil },
      Row("an expiration without storage", 400, "BadExpirationDate") {
        $0["apns-expiration"] = "4000000000"
      },
      Row("a bundle id with a suffix", 400, "TopicDisallowed") {
        $0.path = Self.path + ".push-type.liveactivity"
      },
      Row("no bundle id", 404, "BadPath") { $0.path = "/4/broadcasts/apps/" },
      Row("no channel", 400, "MissingChannelId") { $0["apns-channel-id"] = nil },
      Row("a bad channel", 400, "BadChannelId") { $0["apns-channel-id"] = "?" },
      Row("an unknown channel", 400, "ChannelNotRegistered") { $0["apns-channel-id"] = "AAAA" },
      Row("no body", 400, "PayloadEmpty") { $0.body = [] },
      Row("5121 bytes", 413, "PayloadTooLarge") { $0.body = [UInt8](repeating: 0x20, count: 5121) },
    ]

    @Test("each thing that is wrong with a broadcast has its reason")
    func reasons() throws {
      let harness = try EmulatorHarness()
      let id = try makeChannel(harness)
      let bearer = try harness.bearer()
      for row in Self.mistakes {
        let client = try HTTP2Client(harness)
        var request = Self.broadcast(id)
        request["authorization"] = bearer
        row.change(&request)
        let answer = try client.answer(request)
        #expect(answer.status == row.status, "\(row.testDescription)")
        #expect(answer.text == #"{"reason":"\#(row.reason)"}"#, "\(row.testDescription)")
        #expect(answer["apns-request-id"] != nil, "\(row.testDescription)")
        client.connection.close()
      }
      var whole = Self.broadcast(id)
      whole.body = [UInt8](repeating: 0x20, count: 5120)
      let other = try HTTP2Client(harness, .app("com.example.other"))
      #expect(try other.answer(whole).text == #"{"reason":"TopicMismatch"}"#)
      #expect(try HTTP2Client(harness, .app()).answer(whole).status == 200)
    }

    @Test("a broadcast and the end of a closing device in one turn do no harm")
    func endsInTheSameTurn() throws {
      let harness = try EmulatorHarness()
      let id = try makeChannel(harness)
      let device = try harness.device()
      _ = try subscribe(device, harness, join: [channel(id)])
      harness.passPause()
      device.connection.setPaused(true)
      harness.connections("courier").first?.close()
      harness.turn(until: "the courier lingers") {
        harness.connections("courier").first?.isLingering == true
      }
      let topic = try #require(harness.broker.registry.knownTopic(hashed: .app()))
      let key = ChannelTable.Key(
        topic: topic, environment: .sandbox, id: try #require(Base64.decode(id.utf8)))
      // One turn: something is sent, then the peer is gone.
      Frames.payload.withUnsafeBytes { payload in
        let submission = Submission(
          interface: .provider, topic: topic, environment: .sandbox, token: .none,
          payload: payload.span)
        harness.broker.broadcasts.send(submission, to: key, storageSeconds: 0, now: harness.clock.now())
      }
      harness.connections("courier").first?.abort("gone")
      harness.settle()
      #expect(harness.connections("courier").isEmpty)
    }

    @Test("broadcasts for a device that never reads cost a bounded number of bytes")
    func neverReads() throws {
      let harness = try EmulatorHarness()
      let id = try makeChannel(harness)
      let device = try harness.device()
      _ = try subscribe(device, harness, join: [channel(id)])
      harness.passPause()
      let served = try #require(harness.connections("courier").first)
      served.setSendBuffer(4096)
      device.connection.setPaused(true)
      let client = try HTTP2Client(harness, .app())
      client.open()
      var request = Self.broadcast(id)
      request.body = [UInt8](repeating: 0x20, count: 5120)
      for _ in 0..<5 {
        let before = client.answers.count
        for _ in 0..<600 { client.send(request) }
        harness.turn(until: "they are answered") { client.answers.count == before + 600 }
      }
      #expect(client.answers.values.allSatisfy { $0.status == 200 })
      #expect(served.queuedBytes <= CourierOutput.limit + 8192, "\(served.queuedBytes)")
    }
  }
}
