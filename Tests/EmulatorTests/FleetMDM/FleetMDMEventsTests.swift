import Basics
import Testing

import Emulator
import Transport

extension LiveTests {
  /// `--fleet-events` over sockets. `Conformance/test_fleet_events.py` has it with a client of another's making.
  @Suite("Fleet's load test")
  struct FleetMDMEventsTests {
    private let harness: EmulatorHarness
    private let token = "746f6b656e31"

    init() throws {
      harness = try EmulatorHarness {
        $0.listeners.console = .number(0)
        $0.console.fleetEvents = true
      }
    }

    private func push(_ body: String, _ fields: String = "", to token: String? = nil) throws -> String {
      try harness.ask("POST", "/3/device/\(token ?? self.token)", body, fields: fields)
    }

    private func open(_ token: String? = nil) throws -> StreamReader {
      let count = harness.emulator.streams.openedCount
      let reader = try StreamReader(harness, "/events?token=\(token ?? self.token)")
      harness.turn(until: "the stream is there") { harness.emulator.streams.openedCount == count + 1 }
      return reader
    }

    @Test("the newest waiting push comes first, each as it was sent, line by line")
    func waiting() throws {
      #expect(try push("older").hasPrefix("HTTP/1.1 200"))
      #expect(try push("{\n \"mdm\": \"x\"\r\n}").contains("Content-Length: 0\r\n"))
      let reader = try open()
      reader.wait(for: 1, "ping")
      #expect(reader.events[0].data == "{\n \"mdm\": \"x\"\n}" && reader.events[0].id.isEmpty)
      #expect(try push("live").hasPrefix("HTTP/1.1 200"))
      reader.wait(for: 2, "ping")
      #expect(reader.events[1].data == "live")
      #expect(harness.broker.counters.stored == 2)
      let stats = try harness.ask("GET", "/stats")
      let numbers =
        #"{"active_connections":1,"total_pushes":3,"delivered_live":1,"delivered_on_connect":1,"stored":2,"#
        + #""coalesced":1,"expired":0}"#
      #expect(stats.hasSuffix(#"{"node":\#(numbers),"cluster":\#(numbers)}"#), "\(stats)")
      #expect(try harness.ask("GET", "/healthz").hasSuffix("\r\n\r\nok"))
    }

    @Test("the newest connection of a token wins")
    func newest() throws {
      let first = try open()
      let second = try open()
      first.waitForEnd()
      #expect(first.status == 200 && first.events.isEmpty)
      _ = try push("x")
      second.wait(for: 1, "ping")
    }

    @Test("now or never is never for a device that is offline, and what is over is not delivered")
    func expiration() throws {
      #expect(try push("x", "apns-expiration: 0\r\n").hasPrefix("HTTP/1.1 200"))
      #expect(try push("y", "apns-expiration: 1000\r\n").hasPrefix("HTTP/1.1 200"))
      let reader = try open()
      #expect(try push("now", "apns-expiration: 0\r\n").hasPrefix("HTTP/1.1 200"))
      reader.wait(for: 1, "ping")
      #expect(reader.events.map(\.data) == ["now"])
    }

    @Test("refusals are Apple's words, and a stream is refused before it begins")
    func refusals() throws {
      let id = "EC1BF194-B3B2-424B-89A9-5A918A6E6B5C"
      #expect(try push("x", "apns-id: \(id)\r\n").contains("apns-id: \(id)\r\n"))
      for (answer, status, reason) in [
        (try push("x", "apns-id: 1\r\n"), 400, "BadMessageId"),
        (try push("x", "apns-push-type: alert\r\n"), 400, "InvalidPushType"),
        (try push(""), 400, "PayloadEmpty"),
        (try push(String(repeating: "x", count: 4097)), 413, "PayloadTooLarge"),
        (try push("x", to: "zz"), 400, "BadDeviceToken"),
        (try harness.ask("GET", "/events"), 400, "MissingDeviceToken"),
        (try harness.ask("GET", "/events?token="), 400, "MissingDeviceToken"),
        (try harness.ask("GET", "/events?token=abc"), 400, "BadDeviceToken"),
      ] {
        #expect(
          answer.hasPrefix("HTTP/1.1 \(status) ") && answer.hasSuffix(#"{"reason":"\#(reason)"}"#),
          "\(answer)")
      }
    }

    @Test("a token of a device and app that are known is that device's")
    func known() throws {
      let claim = #"{"udid":"mac-1","topic":"com.apple.mgmt.External.x"}"#
      #expect(try harness.ask("PUT", "/api/v1/tokens/\(token)", claim).hasPrefix("HTTP/1.1 201"))
      let reader = try open()
      #expect(try harness.ask("GET", "/api/v1/connections").contains(#""devices":["mac-1"]"#))
      _ = try push("x")
      reader.wait(for: 1, "ping")
    }

    @Test("there is a limit to tokens that come up")
    func full() throws {
      harness.broker.registry.customLimit = 1
      #expect(try push("x").hasPrefix("HTTP/1.1 200"))
      #expect(try push("x", to: "ab").hasSuffix(#"{"reason":"ServiceUnavailable"}"#))
      #expect(try harness.ask("GET", "/events?token=ab").hasPrefix("HTTP/1.1 503"))
      #expect(
        try harness.ask("GET", "/metrics").contains("\napns_emulator_token_adoptions_refused_total 2\n"))
    }

    @Test("without the flag the paths are as they were")
    func off() throws {
      let plain = try EmulatorHarness { $0.listeners.console = .number(0) }
      for path in ["/events?token=ab", "/healthz", "/stats"] {
        #expect(try plain.ask("GET", path).hasPrefix("HTTP/1.1 404"))
      }
      #expect(try plain.ask("POST", "/3/device/ab", "x").contains("MissingProviderToken"))
    }
  }
}
