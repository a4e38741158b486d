import Faults
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  /// A device that is a stream of the console. `Conformance/test_streams.py` has it with a client of another's making.
  @Suite("Device streams")
  struct DeviceStreamTests {
    private let harness: EmulatorHarness

    init() throws { harness = try EmulatorHarness { $0.listeners.console = .number(0) } }

    private func push(_ token: String, _ text: String, _ fields: String = "") throws -> Int? {
      let answer = try harness.ask(
        "POST", "/api/v1/push",
        #"{"token":"\#(token)","topic":"\#(Site.topic)","payload":{"t":"\#(text)"}}"#, fields: fields)
      return answer.split(separator: " ").dropFirst().first.flatMap { Int($0) }
    }

    private func state(of number: UInt64) -> String? {
      harness.broker.journal[number]?.state.name
    }

    @Test("what was kept comes first, then what comes; all of it is delivered when it has left")
    func keptFirst() throws {
      let token = try harness.offlineToken()
      #expect(try push(token.hex, "kept") == 200)
      let reader = try harness.stream("phone-1", "")
      reader.wait(for: 1)
      #expect(try push(token.hex, "fresh") == 200)
      reader.wait(for: 2)
      #expect(reader.pushes == [#"{"t":"kept"}"#, #"{"t":"fresh"}"#])
      let events = reader.events.filter { $0.name == "push" }
      #expect(
        events.map { $0["kept"] } == ["true", "false"]
          && events.map { $0["token"] } == [token.hex, token.hex])
      #expect(harness.broker.counters.delivered == 2)
      let devices = try harness.ask("GET", "/api/v1/devices/phone-1")
      #expect(devices.contains(#""online":true"#) && devices.contains(#""by":"stream""#))
      #expect(try harness.ask("GET", "/api/v1/connections").contains(#""devices":["phone-1"]"#))
      #expect(try harness.ask("GET", "/metrics").contains("\napns_emulator_device_streams 1\n"))
    }

    @Test(
      "apps that are asked for are registered as if they were installed, and the first event tells their tokens"
    )
    func registered() throws {
      let reader = try harness.stream("phone-1", "?topic=\(Site.topic)&topic=com.example.second")
      let tokens = [try reader.token(), try reader.token(of: "com.example.second")]
      #expect(Set(tokens).count == 2)
      #expect(try push(tokens[0], "x") == 200)
      reader.wait(for: 1)
      let again = try harness.stream("phone-1", "?topic=com.example.second")
      #expect(try again.token(of: "com.example.second") == tokens[1])
    }

    @Test("the newest connection wins, stream or courier, and the older hears why")
    func newest() throws {
      let first = try harness.stream()
      let second = try harness.stream()
      first.waitForEnd()
      #expect(first.events.last?.name == "end")
      #expect(first.events.last?["because"]?.contains("connected again") == true)
      let (device, token) = try harness.listener()
      second.waitForEnd()
      harness.passPause()
      #expect(try push(token.hex, "to the phone") == 200)
      device.waitForMessages(1)
      let third = try harness.stream()
      harness.turn(until: "the phone's connection ends") { device.recorder.hasEnded }
      #expect(try push(token.hex, "to the stream") == 200)
      third.wait(for: 2)
      #expect(third.pushes.last == #"{"t":"to the stream"}"#)
      #expect(harness.emulator.streams.count == 1)
    }

    @Test("with explicit acknowledgement a message is kept again unless its id is named")
    func explicit() throws {
      let query = "?topic=\(Site.topic)&ack=explicit"
      let reader = try harness.stream("phone-1", query)
      let token = try reader.token()
      #expect(try push(token, "one") == 200)
      reader.wait(for: 1)
      #expect(state(of: 1) == "sent")
      _ = try harness.ask("POST", "/api/v1/devices/phone-1/disconnect")
      reader.waitForEnd()
      #expect(state(of: 1) == "stored")
      let again = try harness.stream("phone-1", query)
      again.wait(for: 1)
      let answer = try harness.ask("POST", "/api/v1/devices/phone-1/stream/ack", #"{"ids":[1,1,99]}"#)
      #expect(answer.hasSuffix(#"{"acknowledged":1}"#))
      #expect(state(of: 1) == "delivered")
      #expect(try harness.ask("POST", "/api/v1/devices/phone-1/disconnect").contains("200 OK"))
      let refused = try harness.ask("POST", "/api/v1/devices/phone-1/stream/ack", #"{"ids":[1]}"#)
      #expect(refused.hasPrefix("HTTP/1.1 409"))
    }

    @Test("who reads nothing is dropped when its time is over, and what it did not take is kept")
    func unread() throws {
      harness.emulator.streams.timeout = 300_000_000
      // Never reads: what the test does not ask for stays in the socket.
      let socket = try harness.beginStream("/api/v1/devices/phone-1/stream?topic=\(Site.topic)")
      harness.turn(until: "it is there") { harness.emulator.streams.count == 1 }
      let tokens = try harness.ask("GET", "/api/v1/tokens")
      let token = String(try #require(tokens.firstMatch(of: /"token":"([0-9a-f]{64})"/)).1)
      let text = String(repeating: "x", count: 3000)
      var count = 0
      harness.turn(until: "the system takes no more") {
        count += 1
        _ = try? push(token, text)
        return harness.emulator.console?.openConnections.contains { $0.queuedBytes > 0 } == true
          || count > 5000
      }
      harness.turn(until: "it is dropped") { harness.emulator.streams.count == 0 }
      #expect(harness.emulator.streams.unreadCount == 1)
      #expect(state(of: harness.broker.journal.nextId - 1) == "stored")
      #expect(!harness.broker.deliveries.hasUnacknowledged)
      withExtendedLifetime(socket) {}
    }

    @Test(
      "of what a reader leaves unread little waits for it: the newest of the rest is kept until it reads on")
    func unreadIsLittle() throws {
      let reader = try harness.stream("phone-1", "?topic=\(Site.topic)&ack=explicit")
      let token = try reader.token()
      let text = String(repeating: "x", count: 3000)
      var count: UInt64 = 0
      harness.turn(until: "one is kept") {
        count += 1
        _ = try? push(token, text)
        return state(of: count) == "stored" || count > 2000
      }
      let stream = try #require(harness.emulator.console?.openConnections.first { $0.isStanding })
      // One document is 8 KiB, and the last one begins below the limit.
      #expect(stream.queuedBytes > 64 << 10 && stream.queuedBytes < (256 + 16) << 10)
      // The system takes as much as fits into its last buffer.
      #expect(stream.systemQueuedBytes < 256 << 10)
      #expect(try push(token, "newest") == 200)
      #expect(state(of: count) == "replaced" && state(of: count + 1) == "stored")
      reader.wait(for: Int(count))
      #expect(reader.pushes.last == #"{"t":"newest"}"#)
    }

    @Test("what a person does to apps and phone is told, and an erased phone's stream ends")
    func people() throws {
      let all = try harness.stream("phone-1", "")
      #expect(all.events[0]["tokens"] == "[]")
      _ = try harness.ask("POST", "/api/v1/devices/phone-1/apps/\(Site.topic)/install")
      all.wait(for: 1, "app")
      let token = try #require(all.events.last?["token"])
      #expect(try push(token, "x") == 200)
      all.wait(for: 1)
      _ = try harness.ask("POST", "/api/v1/devices/phone-1/apps/\(Site.topic)/remove")
      all.wait(for: 2, "app")
      #expect(all.events.last?["change"] == "remove" && all.events.last?["token"] == "null")
      // The phone says so when it is tried.
      #expect(try push(token, "y") == 200)
      let row = try #require(DeviceToken(hex: token).flatMap(harness.broker.registry.find))
      #expect(!harness.broker.registry[row].isActive && all.pushes.count == 1)
      _ = try harness.ask("POST", "/api/v1/devices/phone-1/erase")
      all.waitForEnd()
      #expect(all.events.suffix(2).map(\.name) == ["app", "end"])
    }

    @Test("a reset and the orderly end of the emulator end streams with a word")
    func ends() throws {
      let first = try harness.stream()
      _ = try harness.ask("POST", "/api/v1/reset", #"{"what":["devices"]}"#)
      first.waitForEnd()
      #expect(first.events.last?["because"] == "every device was reset")
      let second = try harness.stream()
      harness.stop()
      _ = second.text
      #expect(second.events.last?["because"] == "the emulator is shutting down")
    }

    @Test("hundreds that connect and vanish leave nothing, and their messages are kept")
    func vanish() throws {
      let before = harness.loop.memory.used
      do {
        let readers = try (0..<300).map {
          try StreamReader(harness, "/api/v1/devices/p-\($0)/stream?topic=a.b")
        }
        harness.turn(until: "all are there") { harness.emulator.streams.count == 300 }
        #expect(harness.broker.registry.onlineCount == 300)
        withExtendedLifetime(readers) {}
      }
      harness.turn(until: "all have gone") { harness.emulator.streams.count == 0 }
      #expect(harness.broker.registry.onlineCount == 0)
      harness.turn(until: "all memory is given back") { harness.loop.memory.used == before }
    }

    @Test("streams do not take the places of those who ask the console for anything")
    func places() throws {
      let server = try #require(harness.emulator.console)
      let limit = server.limits.connections + server.limits.reserve
      let readers = try (0..<limit + 50).map {
        try StreamReader(harness, "/api/v1/devices/p-\($0)/stream?topic=a.b")
      }
      harness.turn(until: "all are there") { harness.emulator.streams.count == readers.count }
      #expect(try harness.ask("GET", "/api/v1/devices?limit=1").hasPrefix("HTTP/1.1 200"))
      harness.stop()
    }

    @Test(
      "faults of the courier are injected into streams too: dropped, its message is kept; stalled, it waits")
    func faults() throws {
      let engine = harness.emulator.faultEngine
      let first = try harness.stream()
      let token = try first.token()
      var effects = FaultEffects()
      effects.courier = .drop
      engine.set(FaultRule(name: "drop", schedule: .next(1), effects: effects))
      #expect(try push(token, "dropped") == 200)
      first.waitForEnd()
      #expect(state(of: 1) == "stored" && first.pushes.isEmpty)
      effects.courier = .stall
      engine.set(FaultRule(name: "stall", schedule: .always, effects: effects))
      let second = try StreamReader(harness, "/api/v1/devices/phone-1/stream")
      harness.turn(until: "it stands still") { engine["stall"]?.hits == 1 }
      harness.settle()
      #expect(second.text.isEmpty)
      _ = engine.remove("stall")
      second.wait(for: 1)
      #expect(second.pushes == [#"{"t":"dropped"}"#])
    }

    @Test("HEAD is answered with a head alone, and makes nobody a device")
    func head() throws {
      let answer = try harness.ask("HEAD", "/api/v1/devices/phone-1/stream")
      #expect(answer.contains("text/event-stream"))
      #expect(harness.broker.registry.deviceCount == 0)
    }
  }
}
