import Basics
import Faults
import Testing

import Console

@Suite struct FaultRoutesTests {
  private func makeLab() -> (ConsoleLab, FaultEngine) {
    let engine = FaultEngine(seed: 1)
    return (ConsoleLab { $0.faults = engine }, engine)
  }

  private func post(_ lab: ConsoleLab, _ json: String, _ status: Int) throws -> JSONValue {
    let response = try lab.ask("POST", "/api/v1/faults", json: json)
    #expect(response.status == status, "\(String(decoding: response.body, as: UTF8.self))")
    return try #require(JSONReader.read(response.body))
  }

  @Test("A rule with everything comes back as it was sent, and can be sent again")
  func everything() throws {
    let (lab, engine) = makeLab()
    let token = String(repeating: "ab", count: 32)
    let rule =
      #"{"name":"all","match":{"interface":"gateway","topic":"com.example.app","token":"\#(token)","priority":10,"#
      + #""connection":"127.0.0.1:9"},"when":{"every":3},"effect":{"reason":"Unregistered","delayMs":5,"#
      + #""jitterMs":2,"dribble":{"bytes":1,"everyMs":10},"legacy":{"status":7,"identifier":9},"reset":true,"#
      + #""rstStream":8,"garbage":10,"goaway":{"reason":"Shutdown","lastStream":"zero","keepsOpen":true},"#
      + #""halfClose":true,"taken":true,"streamLimit":1,"stall":true},"#
      + #""enabled":true,"hits":0,"seen":0}"#
    #expect(try post(lab, rule, 201).text == rule)
    #expect(try post(lab, rule, 200).text == rule)
    let shown = try lab.get("/api/v1/faults/all")
    #expect(shown.text == rule)
    let schemas = OpenAPIDocument.make(ConsoleLab().console.table.routes, version: "1")["components"][
      "schemas"]
    let check = SchemaCheck(schemas: schemas)
    #expect(check.findings(shown, schemas["Fault"]) + check.findings(shown, schemas["FaultRequest"]) == [])
    #expect(engine["all"]?.schedule == .every(3) && engine["all"]?.effects.reason == .unregistered)
  }

  @Test(
    "Each schedule and each effect of another moment is read",
    arguments: [
      (#""when":{"next":2}"#, #""effect":{"refuse":true}"#),
      (#""when":{"probability":0.25}"#, #""effect":{"tlsAlert":40}"#),
      (
        #""when":{"from":"2026-01-02T03:04:05.000Z","to":"2026-01-02T03:05:05.000Z"}"#,
        #""effect":{"courier":"drop"}"#
      ),
      (#""when":{"to":"2026-01-02T03:05:05.000Z"}"#, #""effect":{"courier":"stall"}"#),
      (#""when":null"#, #""effect":{"goaway":{}}"#),
      (#""when":{"nth":50}"#, #""effect":{"halfClose":true,"taken":true}"#),
      (#""when":{"nth":1}"#, #""effect":{"initialStreamLimit":1}"#),
    ])
  func schedules(when: String, effect: String) throws {
    let (lab, _) = makeLab()
    let document = try post(lab, "{\(when),\(effect)}", 201)
    #expect(document.text.contains(when) && document.text.contains(effect))
  }

  @Test(
    "A rule that could never inject its fault is refused, and told why",
    arguments: [
      (
        #""when":{"from":"2026-01-02T00:00:00Z","to":"2026-01-01T00:00:00Z"},"effect":{"reset":true}"#,
        "when.to"
      ),
      (
        #""when":{"from":"2026-01-02T00:00:00Z","to":"2026-01-02T00:00:00Z"},"effect":{"reset":true}"#,
        "when.to: expected a time after 2026-01-02T00:00:00.000Z"
      ),
      (#""match":{"interface":"provider"},"effect":{"courier":"drop"}"#, "match.interface: expected courier"),
      (#""match":{"interface":"courier"},"effect":{"stall":true}"#, #"got "courier""#),
      (#""match":{"topic":"com.example.app"},"effect":{"refuse":true}"#, "match.topic: expected none"),
      (#""match":{"priority":10},"effect":{"tlsAlert":40}"#, "match.priority: expected none"),
      (#""effect":{"refuse":true,"stall":true}"#, "make a rule for each, got stall, refuse"),
      (
        #""match":{"interface":"courier"},"effect":{"initialStreamLimit":1}"#,
        "match.interface: expected provider, gateway or feedback"
      ),
      (
        #""effect":{"taken":true,"reason":"BadTopic"}"#,
        "effect.taken: expected one of reset, rstStream, garbage, halfClose, goaway beside it, got reason"
      ), (#""effect":{"taken":true}"#, "beside it, got none"),
      (#""effect":{"streamLimit":1,"initialStreamLimit":1}"#, "make a rule for each"),
      (#""effect":{"stall":false}"#, "halfClose"), (#""effect":{"stall":false}"#, ", got none"),
    ])
  func neverMatches(members: String, words: String) throws {
    let (lab, engine) = makeLab()
    let message = try lab.refusal("POST", "/api/v1/faults", 400, json: "{\(members)}")
    #expect(message.contains(words) && message.contains(", got "), "\(message)")
    #expect(engine.rules.isEmpty)
  }

  @Test("A rule without a name gets one that is free")
  func names() throws {
    let (lab, _) = makeLab()
    let names = try (0..<2).map { _ in try post(lab, #"{"effect":{"reset":true}}"#, 201)["name"].string }
    #expect(names == ["fault-1", "fault-2"])
  }

  @Test("A preset gives a rule, and the request may change it")
  func presets() throws {
    let (lab, engine) = makeLab()
    #expect(try post(lab, #"{"preset":"fail-twice"}"#, 201)["when"].text == #"{"next":2}"#)
    #expect(engine["fail-twice"]?.effects.reason == .serviceUnavailable)
    let changed = try post(lab, #"{"name":"mine","preset":"outage","match":{"topic":"a"}}"#, 201)
    #expect(changed["match"].text == #"{"topic":"a"}"#)
    #expect(try lab.get("/api/v1/faults")["presets"].count == FaultPreset.allCases.count)
  }

  @Test("Name and enabled alone switch a rule, which keeps its counts")
  func switching() throws {
    let (lab, engine) = makeLab()
    _ = try post(lab, #"{"preset":"outage"}"#, 201)
    _ = engine.decide(FaultPoint(.push, at: .gateway), now: lab.now)
    let off = try post(lab, #"{"name":"outage","enabled":false}"#, 200)
    #expect(off["enabled"].bool == false && off["hits"].integer == 1)
    #expect(engine.decide(FaultPoint(.push, at: .gateway), now: lab.now) == nil)
    _ = try lab.refusal("POST", "/api/v1/faults", 404, json: #"{"name":"nobody","enabled":false}"#)
  }

  @Test("A rule is taken away once, and a reset takes all")
  func delete() throws {
    let (lab, engine) = makeLab()
    _ = try post(lab, #"{"preset":"outage"}"#, 201)
    #expect(try lab.ask("DELETE", "/api/v1/faults/outage").status == 200)
    _ = try lab.refusal("DELETE", "/api/v1/faults/outage", 404)
    _ = try lab.refusal("GET", "/api/v1/faults/outage", 404)
    _ = try post(lab, #"{"preset":"outage"}"#, 201)
    #expect(try lab.ask("POST", "/api/v1/reset", json: #"{"what":["faults"]}"#).status == 200)
    #expect(engine.rules.isEmpty)
  }

  @Test(
    "A bad rule says what was expected",
    arguments: [
      ("{}", "effect"), (#"{"effect":{}}"#, "one of reason"),
      (#"{"effect":{"reason":"Nope"}}"#, "BadDeviceToken"),
      (#"{"effect":{"reset":true,"refuse":true}}"#, "a rule for each"),
      (#"{"effect":{"delay":5}}"#, "delayMs"), (#"{"effect":{"delayMs":-5}}"#, "delayMs"),
      (#"{"effect":{"legacy":{}}}"#, "status"), (#"{"effect":{"legacy":{"status":256}}}"#, "0 to 255"),
      (#"{"effect":{"tlsAlert":-1}}"#, "0 to 255"), (#"{"effect":{"rstStream":4294967296}}"#, "4294967295"),
      (#"{"effect":{"courier":"lose"}}"#, "drop or stall"), (#"{"effect":{"reset":1}}"#, "true or false"),
      (#"{"effect":{"reset":true},"when":{}}"#, "every, nth, probability, or from and to, got none"),
      (#"{"effect":{"reset":true},"when":{"next":1,"every":2}}"#, "or from and to, got next, every"),
      (#"{"effect":{"reset":true},"when":{"next":0}}"#, "next"),
      (#"{"effect":{"reset":true},"when":{"nth":0}}"#, "nth"),
      (#"{"effect":{"streamLimit":1001}}"#, "0 to 1000"),
      (#"{"effect":{"goaway":{"lastStream":"first"}}}"#, "judged, zero, highest"),
      (#"{"effect":{"reset":true},"when":{"probability":1.5}}"#, "0 to 1"),
      (#"{"effect":{"reset":true},"when":{"from":"now"}}"#, "2026-01-02"),
      (#"{"effect":{"reset":true},"match":{"interface":"moon"}}"#, "gateway"),
      (#"{"effect":{"reset":true},"match":{"priority":7}}"#, "1, 5 or 10"),
      (#"{"effect":{"reset":true},"match":{"token":"x"}}"#, "hexadecimal"),
      (#"{"effect":{"reset":true},"name":"a b"}"#, "name"), (#"{"preset":"doom"}"#, "fail-twice"),
    ])
  func badRule(json: String, expected: String) throws {
    let (lab, engine) = makeLab()
    let message = try lab.refusal("POST", "/api/v1/faults", 400, json: json)
    #expect(message.contains(expected) && message.contains(", got "), "\(message)")
    #expect(engine.rules.isEmpty)
  }
}
