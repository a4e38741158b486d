import Basics
import Broker
import Faults
import PushModel
import TestSupport
import Testing

import Console

@Suite struct TransferTests {
  private let app = ConsoleLab.app

  private func lab() -> (ConsoleLab, FakeIssuer) {
    let issuer = FakeIssuer()
    return (
      ConsoleLab {
        $0.credentials = issuer
        $0.faults = FaultEngine(seed: 1)
      }, issuer
    )
  }

  private func text(_ lab: ConsoleLab) throws -> String {
    let answer = try lab.ask("GET", "/api/v1/export")
    try #require(answer.status == 200)
    return String(decoding: answer.body, as: UTF8.self)
  }

  private func load(_ document: String, into lab: ConsoleLab) throws {
    let answer = try lab.ask("POST", "/api/v1/import", json: document)
    try #require(answer.status == 200, "\(String(decoding: answer.body, as: UTF8.self))")
  }

  // MARK: Round trips

  @Test("What is exported can be imported elsewhere, and is then exported the same", arguments: 0..<20)
  func roundTrip(seed: Int) throws {
    let (first, issuer) = lab()
    try RandomState(seed: UInt64(seed)).fill(first, issuer)
    let document = try text(first)
    let (second, _) = lab()
    try load(document, into: second)
    #expect(try text(second) == document)
    try load(document, into: second)
    #expect(try text(second) == document, "twice is the same as once")
    try load(document, into: first)
    #expect(try text(first) == document, "and where it came from it changes nothing")
  }

  @Test("Those states have everything that a state can have")
  func variety() throws {
    var all = ""
    for seed in 0..<20 {
      let (lab, issuer) = lab()
      try RandomState(seed: UInt64(seed)).fill(lab, issuer)
      all += try text(lab)
    }
    for word in [
      "\"installed\"", "\"removed\"", "\"gone\"", "payload\"", "payloadBase64", "expiration", "moreTopics",
      "keyFingerprint", "\"install\":2", "\"identity\":2", "\"feedback\":[\"", "probability", "storesNewest",
      "\"subscribers\":[{\"udid\"", "seenUntil", "liveactivity", "\"context\":\"start:Ride\"",
      "\"chosen\":true",
    ] { #expect(all.contains(word), "\(word)") }
  }

  @Test(
    "A payload comes through byte by byte",
    arguments: [
      #"{"aps":{"alert":"Hello"}}"#, #"{"aps": {"alert": "Hello"}}"#, "{\n  \"aps\": {}\n}\n",
      #"{"a":1,"a":2}"#, "not JSON", "", "{}", #"{"numbers":[1.0,1e3,-0]}"#, #"{"text":"\u00e9\/"}"#, "null",
    ])
  func payloads(payload: String) throws {
    let (first, _) = lab()
    try first.push(first.install().bytes, payload)
    let (second, _) = lab()
    try load(text(first), into: second)
    let kept = try second.get("/api/v1/devices/phone")["keptMessages"][0]
    #expect(kept["payloadBase64"].string == Base64.encode(Array(payload.utf8)))
  }

  @Test("A person's document may be short: the rest follows")
  func short() throws {
    let (lab, issuer) = lab()
    let document = """
      {"version": 1, "apps": [{"topic": "\(app)", "certificate": "both"}],
       "keys": [{"keyId": "KEY1234567", "teamId": "TEAM123456"}],
       "devices": [{"udid": "phone", "apps": [{"topic": "\(app)", "message": {"payload": {"aps": {}}}}]}]}
      """
    try load(document, into: lab)
    let row = try lab.get("/api/v1/tokens")["tokens"][0]
    let derived = FakeDerivation().appToken(
      environment: .sandbox, udid: try #require(UDID("phone")),
      topicHash: TopicHash(try #require(Topic(app))), install: 1, context: nil)
    #expect(row["token"].string == derived.hex && row["state"].string == "active")
    #expect(try lab.get("/api/v1/devices/phone")["keptMessages"].count == 1)
    #expect(issuer.issuedCertificates.map(\.environments) == [[.sandbox, .production]])
    #expect(issuer.issuedKeys.map(\.teamId) == ["TEAM123456"])
    try load(document, into: lab)
    #expect(issuer.issuedCertificates.count == 1 && issuer.issuedKeys.count == 1)
    #expect(lab.broker.registry.registrationCount == 1)
    #expect(try lab.get("/api/v1/notifications")["notifications"].count == 1)
  }

  // MARK: Tokens

  @Test("A token that another secret gave is kept as it is, and its row says so")
  func foreignToken() throws {
    let (lab, _) = lab()
    let token = String(repeating: "ab", count: 32)
    try load(
      #"{"version":1,"devices":[{"udid":"phone","apps":[{"topic":"\#(app)","token":"\#(token)"}]}]}"#,
      into: lab)
    let detail = try lab.get("/api/v1/tokens/\(token)")
    #expect(detail["derivation"]["isOurs"].bool == false && detail["udid"].string == "phone")
    let bytes = try #require(DeviceToken(hex: token)).bytes
    let id = try lab.push(bytes, "{}")
    #expect(try lab.get("/api/v1/notifications/\(id)")["state"].string == "stored")
    // The app as it is now has this token: nothing is issued beside it.
    #expect(try lab.install().hex == token)
    #expect(try lab.get("/api/v1/tokens?udid=phone")["tokens"].count == 1)
  }

  @Test("Another token for an install that has one, and somebody else's token, change nothing")
  func conflicts() throws {
    let (lab, issuer) = lab()
    let mine = try lab.install("phone")
    let before = try text(lab)
    func document(_ udid: String, _ token: String) -> String {
      """
      {"version":1,"apps":[{"topic":"new.app","certificate":"both"}],
       "devices":[{"udid":"\(udid)","apps":[{"topic":"\(app)","token":"\(token)"}]}]}
      """
    }
    let other = String(repeating: "cd", count: 32)
    let first = try lab.refusal("POST", "/api/v1/import", 409, json: document("phone", other))
    #expect(first.contains("devices[0].apps[0].token") && first.contains(mine.hex) && first.contains(other))
    let second = try lab.refusal("POST", "/api/v1/import", 409, json: document("tablet", mine.hex))
    #expect(second.contains("devices[0].apps[0].token") && second.contains("phone"))
    #expect(try text(lab) == before && issuer.issuedCertificates.isEmpty)
  }

  @Test("A certificate that is there for something else is not replaced")
  func certificateConflict() throws {
    let (lab, issuer) = lab()
    issuer.issue(SavedCertificate(topic: try #require(Topic(app)), environments: [.sandbox]))
    let message = try lab.refusal(
      "POST", "/api/v1/import", 409,
      json: #"{"version":1,"apps":[{"topic":"other"},{"topic":"\#(app)","certificate":"production"}]}"#)
    #expect(message.contains("apps[1].certificate"))
  }

  // MARK: Effects

  @Test("What the document does not have on the phone is taken off it")
  func others() throws {
    let (lab, _) = lab()
    let first = try lab.install()
    let state = try text(lab)
    _ = try lab.ask("POST", "/api/v1/devices/phone/apps/\(app)/reinstall")
    try load(state, into: lab)
    let rows = try lab.get("/api/v1/tokens?udid=phone")["tokens"].elements
    #expect(rows.map { $0["installed"].bool } == [true, false] && rows[0]["token"].string == first.hex)
  }

  @Test("A message reaches a device that is connected already")
  func online() throws {
    let (lab, _) = lab()
    try lab.install()
    let phone = try lab.connect()
    try load(
      #"{"version":1,"devices":[{"udid":"phone","apps":[{"topic":"\#(app)","message":{"payload":{}}}]}]}"#,
      into: lab)
    #expect(phone.messageIds == [1])
  }

  @Test("A device that listens to a channel gets what it missed elsewhere, and nothing twice")
  func broadcasts() throws {
    func document(_ seen: String) -> String {
      """
      {"version":1,"channels":[{"topic":"\(app)","id":"AQID","storesNewest":true,
        "message":{"payload":{"aps":{}},"expiration":2000000000,"receivedAt":"2026-01-02T03:00:00Z"},
        "subscribers":[{"udid":"phone","seenUntil":"\(seen)"}]}]}
      """
    }
    for (seen, expected) in [("2026-01-02T02:59:59Z", 1), ("2026-01-02T03:00:00Z", 0)] {
      let (lab, _) = lab()
      try lab.install()
      let away = document(seen)
      try load(away, into: lab)
      try load(away, into: lab)
      let channel = try lab.get("/api/v1/channels")["channels"][0]
      #expect(channel["newestAt"].string == "2026-01-02T03:00:00.000Z")
      let before = lab.broker.counters.sent
      _ = try lab.connect()
      #expect(lab.broker.counters.sent - before == expected)
      try load(away, into: lab)
      #expect(lab.broker.counters.sent - before == expected, "it is not sent again")
      #expect(try lab.get("/api/v1/notifications")["notifications"].count == 1)
    }
  }

  @Test("A device that is connected gets an imported broadcast at once")
  func broadcastOnline() throws {
    let (lab, _) = lab()
    try lab.install()
    _ = try lab.connect()
    let before = lab.broker.counters.sent
    try load(
      """
      {"version":1,"channels":[{"topic":"\(app)","id":"AQID","storesNewest":true,
        "message":{"payload":{"aps":{}}},"subscribers":[{"udid":"phone"}]}]}
      """, into: lab)
    #expect(lab.broker.counters.sent - before == 1)
    #expect(try lab.get("/api/v1/channels")["channels"][0]["listeners"].text == "1")
  }

  @Test("Apps that are gone are in feedback unless the document says what is there")
  func feedback() throws {
    let gone = #"{"topic":"a","state":"gone","goneAt":"2026-01-01T00:00:00Z"}"#
    let (lab, _) = lab()
    try load(#"{"version":1,"devices":[{"udid":"phone","apps":[\#(gone)]}]}"#, into: lab)
    #expect(try lab.get("/api/v1/feedback")["feedback"][0]["timestamp"].string == "2026-01-01T00:00:00.000Z")
    let silent = #"{"version":1,"devices":[{"udid":"phone","apps":[\#(gone)]}],"feedback":[]}"#
    try load(silent, into: lab)
    #expect(try lab.get("/api/v1/feedback")["feedback"].count == 0)
    // Once read, it does not come back.
    try load(#"{"version":1,"devices":[{"udid":"phone","apps":[\#(gone)]}]}"#, into: lab)
    #expect(try lab.get("/api/v1/feedback")["feedback"].count == 0)
  }

  @Test(
    "Entries of the feedback service are in the order of the document, behind those of others, and once each")
  func feedbackOrder() throws {
    let (lab, _) = lab()
    func gone(_ udids: [String], _ feedback: [String]?) throws -> [String] {
      let devices = udids.map {
        #"{"udid":"\#($0)","apps":[{"topic":"a","state":"gone","goneAt":"2026-01-01T00:00:00Z"}]}"#
      }
      let tokens = try feedback?.map { udid -> String in
        let device = try #require(UDID(udid).flatMap(lab.broker.registry.knownDevice))
        let row = try #require(lab.broker.registry.registrations(of: device).first)
        return "\"\(lab.broker.registry.text(of: row))\""
      }
      let list = tokens.map { #","feedback":[\#($0.joined(separator: ","))]"# } ?? ""
      try load(#"{"version":1,"devices":[\#(devices.joined(separator: ","))]\#(list)}"#, into: lab)
      return try lab.get("/api/v1/feedback")["feedback"].elements.compactMap { $0["udid"].string }
    }
    #expect(try gone(["other", "b", "c", "d"], nil) == ["other", "b", "c", "d"])
    #expect(try gone(["b", "c", "d"], ["d", "b", "d"]) == ["other", "d", "b"])
    #expect(try gone(["b"], ["c"]) == ["other", "d", "c"])
  }

  @Test("The clock is set, or stands still where it stood")
  func clock() throws {
    let (lab, _) = lab()
    try load(#"{"version":1,"clock":{"offset":90.5}}"#, into: lab)
    #expect(try lab.get("/api/v1/clock")["offset"].text == "90.5")
    try load(#"{"version":1,"clock":{"frozenAt":"2027-01-01T00:00:00Z"}}"#, into: lab)
    #expect(try lab.get("/api/v1/clock")["now"].string == "2027-01-01T00:00:00.000Z")
    #expect(try lab.get("/api/v1/clock")["frozen"].bool == true)
  }

  // MARK: Refusals

  @Test(
    "A wrong document says where, what was expected and what is there, and changes nothing",
    arguments: [
      (#"{}"#, "version: expected 1"), (#"{"version": 2}"#, "version: expected 1, got 2"),
      (#"{"version":1,"device":[]}"#, "the body: expected one of version"),
      (#"{"version":1,"devices":{}}"#, "devices: expected an array of objects"),
      (#"{"version":1,"devices":[7]}"#, "devices[0]: expected an object, got 7"),
      (#"{"version":1,"devices":[{}]}"#, "devices[0].udid: expected"),
      (#"{"version":1,"devices":[{"udid":"a b"}]}"#, #"devices[0].udid: expected"#),
      (#"{"version":1,"devices":[{"udid":7}]}"#, #"devices[0].udid: expected 1 to 64 of"#),
      (#"{"version":1,"devices":[{"udid":"a"},{"udid":"a"}]}"#, "devices[1].udid"),
      (#"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t"},{}]}]}"#, "devices[0].apps[1].topic"),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","tokn":""}]}]}"#,
        "devices[0].apps[0]: expected one of"
      ),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","token":"abc"}]}]}"#,
        "devices[0].apps[0].token: expected 2"
      ),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","environment":"prod"}]}]}"#,
        "apps[0].environment"
      ),
      (#"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","install":0}]}]}"#, "apps[0].install"),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","install":1},{"topic":"t","install":1}]}]}"#,
        "apps[1].install: expected a number that no earlier row of the app has, got 1"
      ),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","state":"lost"}]}]}"#,
        "one of installed, removed, gone"
      ),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","goneAt":"2026-01-01T00:00:00Z"}]}]}"#,
        "apps[0].goneAt"
      ),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","message":{}}]}]}"#,
        "apps[0].message.payload"
      ),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","message":{"payload":1,"priority":7}}]}]}"#,
        "message.priority: expected 1, 5 or 10"
      ),
      (
        #"{"version":1,"devices":[{"udid":"a","apps":[{"topic":"t","state":"gone","message":{"payload":1}}]}]}"#,
        "apps[0].message: expected none for an app that is gone, got one"
      ),
      (#"{"version":1,"apps":[{"topic":"a b"}]}"#, "apps[0].topic"),
      (#"{"version":1,"apps":[{"topic":"a","certificate":"dev"}]}"#, "apps[0].certificate"),
      (
        #"{"version":1,"apps":[{"topic":"a","certificate":{"moreTopics":["b"],"single":true}}]}"#,
        "apps[0].certificate.single"
      ),
      (
        #"{"version":1,"apps":[{"topic":"a","certificate":{"moreTopics":["b","c d"]}}]}"#,
        "apps[0].certificate.moreTopics[1]"
      ),
      (#"{"version":1,"keys":[{"keyId":"k"}]}"#, "keys[0].teamId: expected"),
      (#"{"version":1,"keys":[{"keyId":"../k","teamId":"t"}]}"#, "keys[0].keyId"),
      (#"{"version":1,"channels":[{"topic":"t"}]}"#, "channels[0].id"),
      (
        #"{"version":1,"channels":[{"topic":"t","id":"AQID","message":{"payload":{}}}]}"#,
        "channels[0].message: expected none unless storesNewest is true, got one"
      ),
      (
        #"{"version":1,"channels":[{"topic":"t","id":"AQID","subscribers":[{}]}]}"#,
        "channels[0].subscribers[0].udid"
      ),
      (#"{"version":1,"feedback":["abc"]}"#, "feedback[0]"),
      (#"{"version":1,"faults":[{"effect":{"reset":true}}]}"#, "faults[0].name"),
      (#"{"version":1,"faults":[{"name":"f","effect":{"reason":"Nope"}}]}"#, "faults[0].effect.reason"),
      (
        #"{"version":1,"faults":[{"name":"f","effect":{"reset":true},"when":{"next":0}}]}"#,
        "faults[0].when.next"
      ),
      (#"{"version":1,"clock":{"offset":"1h"}}"#, "clock.offset"),
      (#"{"version":1,"clock":{"frozenAt":"noon"}}"#, "clock.frozenAt"),
    ])
  func refusals(document: String, sentence: String) throws {
    let (lab, _) = lab()
    let before = try text(lab)
    let message = try lab.refusal("POST", "/api/v1/import", 400, json: document)
    #expect(message.contains(sentence) && message.contains(", got "), "\(message)")
    #expect(try text(lab) == before)
  }
}
