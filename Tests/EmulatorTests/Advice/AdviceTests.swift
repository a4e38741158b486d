import Advice
import AdviceFeed
import Basics
import PushModel
import Testing

import Emulator
import Transport

extension LiveTests {
  /// Whether what providers do reaches the adviser, from the bytes of their connections; what is made of it has tests of its own.
  @Suite("Advice")
  struct AdviceTests {
    private let harness: EmulatorHarness
    private let token: DeviceToken
    /// One provider token for all that do not say another.
    private let bearer: String

    init() throws {
      harness = try EmulatorHarness { $0.listeners.console = .number(0) }
      token = try harness.offlineToken()
      bearer = try harness.bearer()
    }

    private var advice: AdviceService { harness.emulator.advice }
    private var unknown: DeviceToken {
      get throws { try #require(DeviceToken(bytes: Frames.unknownToken)) }
    }

    private func finding(_ rule: AdviceRule) -> Finding? { advice.findings().first { $0.rule == rule } }

    /// Frames for tokens, each with another payload.
    private func frames(_ tokens: [DeviceToken], from first: UInt32 = 1) -> [UInt8] {
      tokens.enumerated().flatMap { index, token in
        Frames.full(token, id: first + UInt32(index), payload: Frames.text("\(first + UInt32(index))"))
      }
    }

    /// Sets a fault rule, as the API takes it.
    private func fault(_ rule: String) throws {
      #expect(try harness.ask("POST", "/api/v1/faults", rule).contains(" 201 "))
    }

    /// All providers are gone, and what they did is known.
    private func untilAllAreGone() {
      harness.turn(until: "the providers have gone") { harness.connections("gateway").isEmpty }
      advice.nothingMoreComes()
    }

    // MARK: The gateway

    @Test("pushes without anything to remark are counted, and nothing is said of them")
    func nothing() throws {
      let provider = try harness.provider()
      for first in [1, 501] as [UInt32] {
        provider.send((0..<500).flatMap { Frames.full(token, id: first + $0, payload: Frames.text("\($0)")) })
      }
      harness.turn(until: "all have come") { harness.broker.counters.accepted == 1000 }
      provider.connection.close()
      untilAllAreGone()
      #expect(advice.pushes == 1000)
      #expect(advice.findings().filter { $0.severity > .note }.isEmpty)
    }

    @Test("frames behind a rejected one are lost unless they come again, and it is told whose they were")
    func lostAfterError() throws {
      let provider = try harness.provider()
      provider.send(frames([token, token, try unknown, token, token, token]))
      _ = provider.readToEnd()
      untilAllAreGone()
      let lost = try #require(finding(.lostAfterError))
      #expect(lost.count == 3 && lost.severity == .error)
      #expect(lost.provider.interface == .gateway && lost.provider.peer == "127.0.0.1")
      #expect(lost.provider.credential == "certificate of com.example.app")
      #expect(lost.underFaults.isEmpty)
    }

    @Test("those that come again are not lost")
    func sentAgain() throws {
      let provider = try harness.provider()
      provider.send(frames([token, try unknown, token, token]))
      _ = provider.readToEnd()
      let other = try harness.provider()
      other.send(frames([token, token], from: 3))
      harness.turn(until: "they have come") { harness.broker.counters.accepted == 3 }
      other.connection.close()
      untilAllAreGone()
      #expect(finding(.lostAfterError) == nil)
    }

    @Test("what comes after the error packet, in other records and behind our end, is seen as well")
    func behindTheEnd() throws {
      let provider = try harness.provider()
      provider.connection.setPaused(true)
      provider.send(frames([try unknown]))
      harness.turn(until: "the gateway lingers") {
        harness.connections("gateway").contains(where: \.isLingering)
      }
      let late = frames([token, token, token, token], from: 2)
      provider.send(late, in: [40, 100, 3])
      harness.settle()
      provider.connection.abort("the test says so", reset: true)
      untilAllAreGone()
      #expect(finding(.lostAfterError)?.count == 4)
    }

    @Test("of megabytes behind an error packet the first are looked at, the others counted")
    func megabytes() throws {
      let provider = try harness.provider()
      provider.send(frames([try unknown]))
      let more = Frames.full(token, id: 2, payload: [UInt8](repeating: 0x20, count: 2000))
      for _ in 0..<8 { provider.send((0..<500).flatMap { _ in more }) }
      #expect(provider.readToEnd() == bytes("080800000001"))
      untilAllAreGone()
      let count = try #require(finding(.lostAfterError)).count
      // No more than came, and most of them: of those that nobody looked at, each counts as long as the longest.
      #expect(count > 1000 && count <= 4000)
    }

    @Test(
      "what a fault refused is not held against the provider; what it loses then is, under the fault's name")
    func underFault() throws {
      try fault(#"{"name":"bad","when":{"next":1},"effect":{"reason":"PayloadTooLarge"}}"#)
      let provider = try harness.provider()
      provider.send(frames([token, token, token]))
      _ = provider.readToEnd()
      untilAllAreGone()
      let lost = try #require(finding(.lostAfterError))
      #expect(lost.count == 2 && lost.underFaults.map(\.fault) == ["bad"])
      #expect(harness.emulator.advice.findings().count == 1)
    }

    @Test("pushes to removed apps are taken, and it is told that nobody reads the feedback")
    func feedbackNotRead() throws {
      let gone = try harness.goneTokens(3)
      let provider = try harness.provider()
      provider.send(frames(gone))
      // Each was pushed to before, by nobody.
      harness.turn(until: "they have come") { harness.broker.counters.accepted == 6 }
      provider.connection.close()
      untilAllAreGone()
      #expect(finding(.feedbackNotRead)?.count == 3)
    }

    @Test("what was replaced is told of at once, and all of it")
    func replaced() throws {
      let provider = try harness.provider()
      provider.send(frames([token, token, token, token]))
      harness.turn(until: "all have come") { harness.broker.counters.accepted == 4 }
      #expect(finding(.replacedWhileOffline)?.count == 3)
      #expect(finding(.replacedWhileOffline)?.examples.count == 3)
    }

    @Test("that command 0 was used, and identifiers twice, is seen at the first frames")
    func fields() throws {
      let provider = try harness.provider()
      provider.send((0..<20).flatMap { _ in Frames.full(token, id: 7) })
      harness.turn(until: "they have come") { harness.broker.counters.accepted == 20 }
      #expect(finding(.identifiersNotUnique) != nil)
      let old = try harness.provider()
      old.send([0, 0, 32] + token.bytes + [0, UInt8(Frames.payload.count)] + Frames.payload)
      harness.turn(until: "it has come") { harness.broker.counters.accepted == 21 }
      #expect(finding(.command0)?.examples == [harness.broker.journal.nextId - 1])
    }

    // MARK: HTTP/2

    private func request(_ change: (inout ProviderRequest) -> Void = { _ in }) -> ProviderRequest {
      var request = ProviderRequest.push(token.hex, authorization: bearer)
      request["apns-id"] = nil
      change(&request)
      return request
    }

    @Test("a request without a push type is seen, with whose token it showed")
    func pushType() throws {
      let client = try HTTP2Client(harness)
      for _ in 0..<3 {
        let answer = try client.answer(request { $0["apns-push-type"] = nil })
        #expect(answer.status == 200)
      }
      let found = try #require(finding(.noPushType))
      #expect(found.count == 3 && found.examples.count == 3)
      #expect(found.provider.credential == "provider tokens of team \(Site.team)")
      #expect(found.provider.interface == .provider && found.provider.peer == "127.0.0.1")
    }

    @Test("another provider token for each push is seen")
    func tokens() throws {
      let client = try HTTP2Client(harness)
      for age in 0..<6 as Range<Int64> {
        let bearer = try harness.bearer(at: harness.clock.now().adding(seconds: -age))
        _ = try client.answer(request { $0["authorization"] = bearer })
      }
      #expect(finding(.tokenRenewedTooOften) != nil)
    }

    @Test("one token for all pushes of a connection, and of another, is no finding")
    func oneToken() throws {
      for _ in 0..<2 {
        let client = try HTTP2Client(harness)
        for _ in 0..<5 { #expect(try client.answer(request()).status == 200) }
        client.connection.close()
      }
      harness.turn(until: "they have gone") { harness.connections("provider").isEmpty }
      #expect(finding(.tokenRenewedTooOften) == nil && finding(.tokenPerTopic) == nil)
      #expect(advice.pushes == 10)
    }

    @Test("requests above the last stream of a GOAWAY are lost unless they come again")
    func goAway() throws {
      try fault(#"{"name":"away","when":{"next":1},"effect":{"goaway":{"reason":"Shutdown"}}}"#)
      let client = try HTTP2Client(harness, .app())
      client.open()
      for _ in 0..<5 { client.send(request { $0["authorization"] = nil }) }
      harness.turn(until: "the connection has gone") { harness.connections("provider").isEmpty }
      advice.nothingMoreComes()
      let lost = try #require(finding(.lostAtGoAway))
      #expect(lost.underFaults.map(\.fault) == ["away"])
      #expect(lost.provider.credential == "certificate of com.example.app")
    }

    @Test("a certificate of the other environment is told of, though it ends before any push")
    func otherEnvironment() throws {
      let gateway = try harness.provider(.production())
      #expect(gateway.readToEnd().isEmpty)
      let client = try HTTP2Client(harness, .production())
      client.open()
      harness.turn(until: "both have gone") {
        harness.connections("gateway").isEmpty && harness.connections("provider").isEmpty
      }
      let found = advice.findings().filter { $0.rule == .wrongEnvironment }
      #expect(Set(found.map(\.provider.interface)) == [.gateway, .provider])
      #expect(found.map(\.count) == [1, 1])
      #expect(advice.findings().count == 2 && advice.pushes == 0)
    }

    @Test("what a fault gives no answer to may come again at once")
    func unanswered() throws {
      try fault(#"{"name":"away","when":{"next":4},"effect":{"goaway":{}}}"#)
      for _ in 0..<4 {
        let client = try HTTP2Client(harness, .app())
        client.open()
        client.send(request { $0["authorization"] = nil })
        harness.turn(until: "the connection has gone") { harness.connections("provider").isEmpty }
      }
      advice.nothingMoreComes()
      #expect(finding(.retryWithoutPause) == nil)
    }

    // MARK: What people see

    @Test("a finding is an event, and by the API what advice has")
    func api() throws {
      let events = try StreamReader(harness, "/api/v1/events")
      events.wait(for: 1, "boot")
      let client = try HTTP2Client(harness)
      for _ in 0..<3 { _ = try client.answer(request { $0["apns-push-type"] = nil }) }
      let told = { events.events.first { $0.name == "advice" && $0["id"] == "no-push-type" } }
      harness.turn(until: "it is told") { told() != nil }
      #expect(told()?["severity"] != nil && told()?["sentence"] != nil)
      let answer = try harness.ask("GET", "/api/v1/advice?id=no-push-type")
      #expect(answer.contains(#""notifications":3"#) && answer.contains(#""heading":"no-push-type""#))
      let metrics = try harness.ask("GET", "/metrics")
      #expect(metrics.contains(#"apns_emulator_advice_findings{severity="error"}"#))
      _ = try harness.ask("POST", "/api/v1/reset", #"{"what":["advice"]}"#)
      #expect(advice.findings().isEmpty && advice.pushes == 0)
    }

    @Test("pushes of people at the console are nobody's")
    func people() throws {
      let body = #"{"token":"\#(token.hex)","topic":"\#(Site.topic)","payload":{"aps":{"alert":"x"}}}"#
      for form in ["", #","protocol":"legacy""#] {
        _ = try harness.ask("POST", "/api/v1/push", String(body.dropLast()) + form + "}")
      }
      #expect(advice.findings().isEmpty)
    }
  }
}
