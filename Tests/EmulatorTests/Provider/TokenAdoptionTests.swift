import Basics
import Broker
import Faults
import PushModel
import Testing

import Emulator

extension LiveTests {
  /// `--adopt-tokens`: a push registers the token that is nobody's, if it is taken, and leaves nothing behind if it is not.
  @Suite("Tokens that come up with their first push")
  struct TokenAdoptionTests {
    /// How a push comes.
    enum Way: String, CaseIterable { case http2, plain, testPush, testFrame, gateway }
    /// What stands against it.
    enum Trouble: CaseIterable { case payload, fault, delayedFault }

    /// As long as those that are given, which all ways take.
    private static let token = String(repeating: "7f", count: DeviceToken.byteCount)

    private func harness(floodLimit: Int? = nil) throws -> EmulatorHarness {
      try EmulatorHarness {
        $0.listeners.console = .number(0)
        $0.broker.adoptsTokens = true
        $0.provider.floodLimit = floodLimit
      }
    }

    private func push(
      _ harness: EmulatorHarness, _ way: Way, payload: String = #"{"aps":{"alert":"Hi"}}"#,
      to token: String = token, topic: String = Site.topic
    ) throws {
      let before = harness.broker.counters.received
      switch way {
      case .http2:
        var request = ProviderRequest.push(token)
        request.body = Array(payload.utf8)
        _ = try HTTP2Client(harness, .app()).answer(request)
      case .plain:
        let fields = "authorization: \(try harness.bearer())\r\napns-topic: \(topic)\r\n"
        _ = try harness.ask("POST", "/3/device/\(token)", payload, fields: fields)
      case .testPush, .testFrame:
        let form = way == .testPush ? "http2" : "legacy"
        let body =
          #"{"protocol":"\#(form)","token":"\#(token)","topic":"\#(Site.topic)","payload":\#(payload)}"#
        _ = try harness.ask("POST", "/api/v1/push", body)
      case .gateway:
        let bytes = try #require(Hex.decode(token).flatMap { DeviceToken(bytes: $0) })
        try harness.provider().send(Frames.full(bytes, id: 1, payload: Array(payload.utf8)))
      }
      harness.turn(until: "it is in the history") { harness.broker.counters.received > before }
    }

    private func row(of token: String, _ harness: EmulatorHarness) throws -> RegistrationID {
      let chosen = try #require(CustomToken(hex: token))
      return try #require(harness.broker.registry.find(chosen))
    }

    private func isEmpty(_ harness: EmulatorHarness) -> Bool {
      harness.broker.registry.deviceCount == 0 && harness.broker.registry.registrationCount == 0
    }

    @Test("a push that is taken registers its token, to a device named after it", arguments: Way.allCases)
    func taken(way: Way) throws {
      let harness = try harness()
      try push(harness, way)
      #expect(harness.broker.counters.accepted == 1)
      let row = try row(of: Self.token, harness)
      let device = harness.broker.registry[row].device
      #expect(harness.broker.registry[device].udid.text == Self.token)
      #expect(harness.broker.deliveries.stored(row) != nil)
    }

    @Test("also one of another length than tokens that are given", arguments: [Way.http2, .testPush])
    func otherLength(way: Way) throws {
      let harness = try harness()
      try push(harness, way, to: "abcd")
      let row = try row(of: "abcd", harness)
      #expect(harness.broker.registry.bytes(of: row) == [0xab, 0xcd] && harness.broker.counters.stored == 1)
      try push(harness, way, to: "abcd")
      #expect(harness.broker.counters.replaced == 1, "it is the same one's")
    }

    @Test(
      "a push that is not taken leaves neither token nor device", arguments: Way.allCases, Trouble.allCases)
    func refused(way: Way, trouble: Trouble) throws {
      let harness = try harness()
      var payload = #"{"aps":{"alert":"Hi"}}"#
      if trouble == .payload {
        payload = #"{"aps":{"alert":"\#(String(repeating: "x", count: Limits.voipPayload))"}}"#
      } else {
        var effects = FaultEffects()
        effects.reason = .tooManyRequests
        if trouble == .delayedFault { effects.delay = .init(milliseconds: 5) }
        harness.emulator.faultEngine.set(FaultRule(name: "no", schedule: .always, effects: effects))
      }
      try push(harness, way, payload: payload)
      #expect(harness.broker.counters.rejected == 1 && isEmpty(harness))
    }

    @Test("one too many for its token leaves nothing either", arguments: [Way.http2, .plain, .testPush])
    func flooded(way: Way) throws {
      let harness = try harness(floodLimit: 0)
      try push(harness, way)
      #expect(harness.broker.counters.rejected == 1 && isEmpty(harness))
    }

    @Test("when there are too many, a push is refused and says so, and is counted")
    func full() throws {
      let harness = try harness()
      harness.broker.registry.customLimit = 0
      try push(harness, .http2)
      let detail = harness.broker.journal.detail(1)?.explanation
      #expect(detail?.contains("only 0 tokens are registered at their first push") == true)
      #expect(harness.broker.apps.refusedAdoptions == 1 && isEmpty(harness))
    }

    @Test("a team brings so many topics that nobody has an app of, and what is refused for that says so")
    func topicsOfTeam() throws {
      let harness = try harness()
      harness.broker.registry.topicsPerTeam = 2
      func push(_ number: Int, _ topic: String) throws -> UInt64 {
        let token = String(repeating: "0\(number)", count: DeviceToken.byteCount)
        try self.push(harness, .plain, to: token, topic: topic)
        return harness.broker.counters.accepted
      }
      #expect(try push(1, "first") == 1 && push(2, "first") == 2 && push(3, "second") == 3)
      #expect(try push(4, "third") == 3)
      let detail = harness.broker.journal.detail(4)?.explanation
      #expect(detail?.contains("a team may register only 2 topics at a first push") == true)
      #expect(try push(5, "second") == 4, "what it has brought it may go on with")
      harness.broker.forgetDevices(now: harness.clock.now())
      #expect(try push(6, "third") == 5)
    }
  }
}
