import Basics
import Broker
import Dashboard
import Faults
import Phones
import PushModel
import SavedState
import Services
import Testing
import Transport
import WaysIn

import Console

/// Each group of routes by itself, given what it needs.
@Suite struct GroupTests {
  private let lab = GroupLab()

  private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

  @Test("Info tells of the run it was given, and readiness why it is not")
  func info() throws {
    let group = InfoGroup(
      lab.broker, lab.clock, boot: "b7",
      info: {
        var info = EmulatorInfo()
        info.version = "9"
        return info
      }, unreadiness: { "draining" })
    let info = try lab.document(group, "GET", "/api/v1/info")
    #expect(info["boot"].string == "b7" && info["version"].string == "9")
    let refused = try lab.ask(group, "GET", "/readyz")
    #expect(refused.status == 503 && text(refused).contains("draining"))
  }

  @Test("Metrics are those of broker and faults, and what others add")
  func metrics() throws {
    let group = MetricsGroup(
      lab.broker, FaultEngine(seed: 1), eventStreams: { 7 },
      others: { [MetricFamily("other", .gauge, "Of another part.", value: 3)] })
    let text = text(try lab.ask(group, "GET", "/metrics"))
    #expect(text.contains("\napns_emulator_event_streams 7\n") && text.contains("\nother 3\n"))
  }

  @Test("Credentials are the issuer's")
  func credentials() throws {
    let issuer = FakeIssuer()
    issuer.issue(SavedKey(keyId: "K", teamId: "T", topics: [], environments: [.sandbox]))
    let group = CredentialGroup(issuer, lab.broker.registry)
    #expect(try lab.document(group, "GET", "/api/v1/keys")["keys"][0]["keyId"].string == "K")
  }

  @Test("Tokens are explained as was said at the start")
  func tokens() throws {
    try lab.install()
    let group = TokenGroup(lab.broker, .sandbox) { _, udid, _, _, _ in [("udid", Array(udid.text.utf8))] }
    let token = try lab.document(group, "GET", "/api/v1/tokens")["tokens"][0]["token"].string
    let shown = try lab.document(group, "GET", "/api/v1/tokens/\(try #require(token))")
    #expect(shown["derivation"]["message"][0]["hex"].string == Hex.encode(Array("phone".utf8)))
  }

  @Test("An app is installed in the environment that is meant where none is said")
  func devices() throws {
    let group = DeviceGroup(lab.broker, .production)
    let row = try lab.document(group, "POST", "/api/v1/devices/new/apps/com.example.app/install")
    #expect(row["udid"].string == "new" && row["environment"].string == "production")
    #expect(try lab.document(group, "GET", "/api/v1/devices")["devices"].count == 1)
  }

  @Test("A stream's notifications are acknowledged where it is read")
  func streams() throws {
    let streams = FakeStreams()
    try lab.install("phone-1")
    let group = StreamGroup(streams, lab.broker.registry, .sandbox)
    let path = "/api/v1/devices/phone-1/stream/ack"
    #expect(try lab.document(group, "POST", path, json: #"{"ids":[4,5]}"#)["acknowledged"].integer == 2)
    #expect(streams.acknowledged == [4, 5])
  }

  @Test("A phone does what it is told, and who watches hears of it")
  func phones() throws {
    try lab.install()
    lab.events.turnOn()
    let board = PhoneBoard(lab.broker, now: lab.clock.now, publish: lab.events.publish)
    let phone = FakePhone(board, try #require(UDID("phone")))
    phone.connect()
    let group = PhoneGroup(board, lab.broker.registry, makeTimer: lab.timers.make)
    let path = "/api/v1/devices/phone/phone/settings"
    #expect(try lab.document(group, "POST", path, json: #"{"lowPower":true}"#)["events"].count == 1)
    #expect(phone.orders.last?.order["lowPower"].bool == true)
    let told = (lab.events.firstNumber..<lab.events.nextNumber).compactMap { lab.events.describe($0)?.0 }
    #expect(told.contains("phone"))
  }

  @Test("Connections are described when they are asked for")
  func connections() throws {
    let group = ConnectionGroup {
      [{ ConnectionReport("courier", remoteAddress: "127.0.0.1:9", bytesRead: 1, bytesWritten: 2) }]
    }
    let listed = try lab.document(group, "GET", "/api/v1/connections")["connections"]
    #expect(listed.count == 1 && listed[0]["listener"].string == "courier")
  }

  @Test("A test push goes to who sends them")
  func testPushes() throws {
    let sender = FakeTestPushes { _ in nil }
    let group = TestPushGroup(sender, lab.broker, .sandbox)
    let answer = try lab.ask(group, "POST", "/api/v1/push", json: #"{"udid":"new","topic":"a","payload":{}}"#)
    #expect(answer.status == 503 && sender.pushes.map(\.topic.name) == ["a"])
    #expect(lab.broker.registry.deviceCount == 1)
  }

  @Test("A reset tells before it begins, and of all nodes forgets devices in their way")
  func reset() throws {
    var told: [String] = []
    try lab.install()
    let board = PhoneBoard(lab.broker, now: lab.clock.now, publish: lab.events.publish)
    let target = ResetTarget(lab.broker, lab.clock, FaultEngine(seed: 1), board, FakeAdvice()) {
      told.append("devices")
    }
    let group = ResetGroup(target, lab.slices, lab.events) { told.append("will reset") }
    let done = try lab.document(group, "POST", "/api/v1/reset", json: #"{"what":["devices"]}"#)
    #expect(done["reset"][0].string == "devices" && told == ["will reset", "devices"])
    #expect(lab.broker.registry.deviceCount == 1)
  }

  @Test("The clock is moved, and who watches hears where it is")
  func clock() throws {
    lab.events.turnOn()
    let group = ClockGroup(lab.clock, lab.broker, lab.slices, lab.events)
    let moved = try lab.document(group, "PUT", "/api/v1/clock", json: #"{"advance":"1h"}"#)
    #expect(moved["now"].string == "2026-01-02T04:04:05.000Z" && lab.clock.offset == 3_600_000_000_000)
    #expect(lab.events.describe(lab.events.firstNumber)?.0 == "clock")
  }

  @Test("All nodes are told where the clock is then, and set it at once")
  func clockOfAllNodes() throws {
    let group = ClockGroup(lab.clock, lab.broker, lab.slices, lab.events)
    let place = try #require(group.routes.first { $0.method == "PUT" }).place
    guard case .ordered(let body?, let doing?) = place else { return #expect(Bool(false), "\(place)") }
    func request(_ body: [UInt8]) throws -> ConsoleRequest {
      let http = try #require(HTTPRequest("PUT", "/api/v1/clock", body: body))
      return ConsoleRequest(http: http, captures: [:], now: lab.clock.now())
    }
    let order = try body(request(Array(#"{"advance":"1h"}"#.utf8)))
    #expect(lab.clock.offset == 0)
    for _ in 0..<2 { _ = try doing(request(order)) }
    #expect(lab.clock.offset == 3_600_000_000_000)
  }

  @Test("What was exported is imported, and who watches hears of it")
  func savedState() throws {
    try lab.install()
    lab.events.turnOn()
    let live = LiveState(lab.broker, .sandbox, lab.clock, FaultEngine(seed: 1), FakeIssuer())
    let group = SavedStateGroup(live, lab.slices, lab.events, background: nil)
    let state = try lab.document(group, "GET", "/api/v1/export")
    #expect(state["devices"][0]["udid"].string == "phone")
    let done = try lab.document(group, "POST", "/api/v1/import", json: state.text)
    #expect(done["imported"]["devices"].integer == 1)
    #expect(lab.events.describe(lab.events.nextNumber - 1)?.0 == "reset")
  }

  @Test("A rule is the engine's")
  func faults() throws {
    let engine = FaultEngine(seed: 1)
    let group = FaultGroup(engine)
    #expect(try lab.ask(group, "POST", "/api/v1/faults", json: #"{"preset":"outage"}"#).status == 201)
    #expect(engine["outage"] != nil)
  }

  @Test("A silent push without a type is read as phones are told to", arguments: [false, true])
  func explain(isStrict: Bool) throws {
    let group = ExplainGroup(isPushTypeStrict: isStrict)
    func explained(_ members: String = "") throws -> String {
      let body = #"{"payload":"{\"aps\":{\"content-available\":1}}","ios":"13"\#(members)}"#
      return try lab.document(group, "POST", "/api/v1/explain", json: body).text
    }
    let said = try explained()
    #expect(try said == explained(#","strictPushType":\#(isStrict)"#))
    #expect(try said != explained(#","strictPushType":\#(!isStrict)"#))
  }

  @Test("Peers are answered by whom they are for")
  func peers() throws {
    let group = PeerGroup(.off, activate: nil) { exchange, reply in
      reply(HTTPResponse(text: exchange.request.path))
    }
    #expect(text(try lab.ask(group, "POST", "/3/device/ab")) == "/3/device/ab")
    #expect(try lab.ask(group, "POST", "/deviceservices/deviceActivation").status == 404)
  }

  @Test("The dashboard's files come from where they are said to be")
  func dashboard() throws {
    let group = DashboardGroup { $0 == "x.js" ? WebFile(contentType: "text/javascript", text: "1") : nil }
    #expect(text(try lab.ask(group, "GET", "/dashboard/x.js")) == "1")
    #expect(try lab.ask(group, "GET", "/dashboard/app.js").status == 404)
  }

  @Test("Fleet's paths are Fleet's service")
  func fleet() throws {
    final class Fleet: FleetMDMService {
      func push(_ request: HTTPRequest, hex: String) -> HTTPResponse { HTTPResponse(text: hex) }
      func open(hex: String?, _ exchange: HTTPExchange) { exchange.answer(HTTPResponse(text: hex ?? "")) }
      var stats: JSONValue { ["pushes": 3] }
    }
    let group = FleetMDMGroup(Fleet())
    #expect(text(try lab.ask(group, "POST", "/3/device/ab")) == "ab")
    #expect(text(try lab.ask(group, "GET", "/events?token=cd")) == "cd")
    #expect(try lab.document(group, "GET", "/stats")["pushes"].integer == 3)
  }

  @Test("The description tells of the others, in their order, and of itself")
  func description() throws {
    let group = OpenAPIGroup(
      before: FaultGroup(FaultEngine(seed: 1)).routes, behind: ExplainGroup(isPushTypeStrict: false).routes)
    let paths = try lab.document(group, "GET", "/api/v1/openapi.json")["paths"].names
    #expect(
      paths == ["/api/v1/faults", "/api/v1/faults/{name}", "/api/v1/openapi.json", "/api/v1/explain"])
  }
}
