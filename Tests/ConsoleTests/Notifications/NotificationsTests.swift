import Basics
import Broker
import Testing

import Console

@Suite struct NotificationsTests {
  private let unknown = [UInt8](repeating: 7, count: 32)

  @Test("A notification has every member of the contract, in its order")
  func document() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    try lab.push(token.bytes, #"{"aps":{"alert":"Hello"}}"#, expiration: 1_767_400_000)
    let listed = try lab.get("/api/v1/notifications")["notifications"][0]
    #expect(
      listed.text == #"{"id":1,"receivedAt":"2026-01-02T03:04:05.000Z","interface":"gateway","command":1,"#
        + #""identifier":42,"apnsId":null,"topic":"com.example.app","environment":"sandbox","#
        + #""token":"\#(token.hex)","udid":"phone","pushType":"alert","priority":10,"#
        + #""expiration":"2026-01-03T00:26:40.000Z","collapseId":null,"#
        + #""channelId":null,"payload":{"aps":{"alert":"Hello"}},"payloadBase64":"eyJhcHMiOnsiYWxlcnQiOiJIZWxsbyJ9fQ==","#
        + #""verdict":{"accepted":true,"status":200,"reason":null,"legacyStatus":0,"explanation":null,"fault":null},"#
        + #""state":"stored","timeline":[{"at":"2026-01-02T03:04:05.000Z","event":"received","#
        + #""detail":"by the gateway interface"},{"at":"2026-01-02T03:04:05.000Z","event":"verified","#
        + #""detail":"accepted"},{"at":"2026-01-02T03:04:05.000Z","event":"stored","#
        + #""detail":"stored until the device is online"}]}"#)
    let whole = try lab.get("/api/v1/notifications/1")
    #expect(whole["rawHex"].string == token.hex + Hex.encode(#"{"aps":{"alert":"Hello"}}"#.utf8))
    #expect(whole["rawBase64"].string != nil && whole["headers"].count == 0)
  }

  @Test("A payload that is not JSON is null, and its bytes are there all the same")
  func notJSON() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    try lab.push(token.bytes, #"{"aps": "#)
    let listed = try lab.get("/api/v1/notifications")["notifications"][0]
    #expect(listed["payload"].isNull && listed["payloadBase64"].string == "eyJhcHMiOiA=")
  }

  @Test("A rejection explains itself")
  func rejected() throws {
    let lab = ConsoleLab()
    try lab.push(unknown, "{}", explanation: "no such token")
    let listed = try lab.get("/api/v1/notifications")["notifications"][0]
    #expect(listed["udid"].isNull && listed["state"].string == "rejected")
    #expect(
      listed["verdict"].text == #"{"accepted":false,"status":400,"reason":"BadDeviceToken","legacyStatus":8,"#
        + #""explanation":"the device token is malformed or not known in this environment: no such token","fault":null}"#
    )
    #expect(listed["timeline"].elements.compactMap { $0["event"].string } == ["received", "rejected"])
  }

  @Test("The timeline follows a message from store to device")
  func timeline() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    try lab.push(token.bytes, "{}")
    lab.clock.pass(seconds: 1)
    let phone = try lab.connect()
    lab.clock.pass(seconds: 1)
    lab.broker.deliveries.acknowledge(phone.link, messageId: phone.messageIds[0], status: 0, now: lab.now)
    let timeline = try lab.get("/api/v1/notifications/1")["timeline"].elements
    #expect(
      timeline.compactMap { $0["event"].string } == [
        "received", "verified", "stored", "sent", "acknowledged",
      ]
    )
    #expect(timeline.last?["at"].string == "2026-01-02T03:04:07.000Z")
  }

  @Test("A message that came back from a lost connection was sent before it was stored")
  func timelineBack() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    let phone = try lab.connect()
    try lab.push(token.bytes, "{}")
    let session = try #require(phone.session)
    lab.broker.devices.sessionEnded(session, now: lab.now)
    let timeline = try lab.get("/api/v1/notifications/1")["timeline"].elements
    #expect(timeline.compactMap { $0["event"].string } == ["received", "verified", "sent", "stored"])
  }

  @Test("Every filter picks what it says, and all of them must hold")
  func filters() throws {
    let lab = ConsoleLab()
    let token = try lab.install("phone")
    let other = try lab.install("tablet", "com.example.other")
    try lab.push(token.bytes, #"{"aps":{"alert":"Good Morning"}}"#)
    try lab.push(other.bytes, "{}", app: "com.example.other", interface: .provider)
    try lab.push(unknown, "{}")
    let expected: [(String, [Int64])] = [
      ("", [1, 2, 3]), ("topic=com.example.app", [1, 3]), ("topic=unheard.of", []),
      ("token=\(token.hex)", [1]), ("token=\(token.hex.uppercased())", [1]), ("token=07", []),
      ("udid=tablet", [2]), ("interface=provider", [2]), ("interface=gateway", [1, 3]),
      ("status=200", [1, 2]),
      ("status=400", [3]), ("reason=BadDeviceToken", [3]), ("state=stored", [1, 2]), ("state=rejected", [3]),
      ("q=good+morning", [1]), ("q=MORNING%22", [1]), ("q=evening", []), ("limit=2", [1, 2]),
      ("since=1", [2, 3]), ("since=99", []), ("since=2026-01-02T03:04:06Z", []),
      ("since=2026-01-02T03:04:05Z", [1, 2, 3]), ("udid=phone&interface=provider", []),
      ("order=newest", [3, 2, 1]), ("order=newest&limit=1", [3]), ("order=newest&before=3", [2, 1]),
      ("order=newest&since=1", [3, 2]),
    ]
    for (query, ids) in expected {
      let listed = try lab.get("/api/v1/notifications?\(query)")["notifications"]
      #expect(listed.elements.compactMap { $0["id"].integer } == ids, "\(query)")
    }
  }

  @Test(
    "A bad filter says what was expected and what came",
    arguments: [
      ("token=xyz", "hexadecimal"), ("interface=http", "gateway, provider, console"),
      ("status=ok", "100 to 599"),
      ("status=1000", "100 to 599"), ("reason=Nope", "BadDeviceToken"), ("state=lost", "delivered"),
      ("since=yesterday", "an id or a time"), ("limit=0", "1 to 10000"), ("limit=x", "1 to 10000"),
      ("since=-1", "an id or a time"), ("order=random", "oldest, newest"),
    ])
  func badFilter(query: String, expected: String) throws {
    let message = try ConsoleLab().refusal("GET", "/api/v1/notifications?\(query)", 400)
    let value = try #require(query.split(separator: "=").last)
    #expect(message.contains(expected) && message.contains("\"\(value)\""), "\(message)")
  }

  @Test("The cursor of one answer begins the next, also when nothing matched")
  func cursor() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    for number in 0..<5 { try lab.push(token.bytes, "{\"n\":\(number)}") }
    var (seen, since): ([Int64], Int64) = ([], 0)
    for _ in 0..<4 {
      let answer = try lab.get("/api/v1/notifications?limit=2&since=\(since)")
      seen += answer["notifications"].elements.compactMap { $0["id"].integer }
      since = try #require(answer["next"].integer)
    }
    #expect(seen == [1, 2, 3, 4, 5] && since == 5)
    #expect(try lab.get("/api/v1/notifications?q=nothing")["next"].integer == 5)
  }

  @Test("The history is a ring: old ids are gone, and the list begins after them")
  func ring() throws {
    let lab = ConsoleLab(history: 3)
    let token = try lab.install()
    for _ in 0..<5 { try lab.push(token.bytes, "{}") }
    let listed = try lab.get("/api/v1/notifications?since=1")["notifications"]
    #expect(listed.elements.compactMap { $0["id"].integer } == [3, 4, 5])
    _ = try lab.refusal("GET", "/api/v1/notifications/2", 404)
    _ = try lab.refusal("GET", "/api/v1/notifications/99", 404)
    _ = try lab.refusal("GET", "/api/v1/notifications/x", 400)
  }

  @Test("Deleting forgets what matches; without filters everything")
  func delete() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    for number in 0..<4 { try lab.push(token.bytes, "{\"n\":\(number)}") }
    let first = try lab.ask("DELETE", "/api/v1/notifications?q=%22n%22:2")
    #expect(JSONReader.read(first.body)?["deleted"].integer == 1)
    _ = try lab.refusal("GET", "/api/v1/notifications/3", 404)
    let second = try lab.ask("DELETE", "/api/v1/notifications")
    #expect(JSONReader.read(second.body)?["deleted"].integer == 3)
    #expect(try lab.get("/api/v1/notifications")["notifications"].count == 0)
    #expect(try lab.get("/api/v1/info")["counters"]["history"].integer == 0)
    _ = try lab.refusal("DELETE", "/api/v1/notifications?limit=3", 400)
  }
}
