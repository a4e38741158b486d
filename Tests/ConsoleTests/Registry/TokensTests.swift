import Basics
import Broker
import Testing

import Console

@Suite struct TokensTests {
  @Test("The table has every member of the contract, oldest first")
  func rows() throws {
    let lab = ConsoleLab()
    let first = try lab.install("phone")
    lab.clock.pass(seconds: 1)
    try lab.install("tablet", "com.example.other")
    let tokens = try lab.get("/api/v1/tokens")["tokens"]
    #expect(
      tokens[0].text
        == #"{"udid":"phone","topic":"com.example.app","environment":"sandbox","token":"\#(first.hex)","#
        + #""install":1,"state":"active","issuedAt":"2026-01-02T03:04:05.000Z","goneAt":null,"#
        + #""online":false,"installed":true,"context":null}"#)
    #expect(tokens.elements.map { $0["udid"].string } == ["phone", "tablet"])
  }

  @Test("An app's family is what has its bundle id for a topic, with a suffix of a push type or without")
  func family() throws {
    let lab = ConsoleLab()
    let family = ["com.example.app", "com.example.app.voip", "com.example.app.push-type.liveactivity"]
    for topic in family + ["com.example.apple", "com.example.app.watch"] { try lab.install("phone", topic) }
    let rows = try lab.get("/api/v1/tokens?app=com.example.app")["tokens"].elements
    #expect(rows.map { $0["topic"].string } == family)
    #expect(try lab.get("/api/v1/tokens?app=com.example.app.voip")["tokens"].count == 1)
    #expect(try lab.get("/api/v1/tokens?app=%20")["tokens"].count == 0)
  }

  @Test("Rows are filtered by device, topic, token, state and environment")
  func filters() throws {
    let lab = ConsoleLab()
    let token = try lab.install("phone")
    try lab.install("phone", "com.example.other")
    try lab.install("tablet")
    let counts = [
      ("udid=phone", 2), ("udid=nobody", 0), ("udid=..", 0), ("topic=com.example.app", 2),
      ("token=\(token.hex)", 1), ("token=\(token.hex.uppercased())", 1),
      ("token=\(String(repeating: "0", count: 64))", 0), ("state=active", 3), ("state=gone", 0),
      ("environment=production", 0), ("udid=phone&topic=com.example.other", 1),
    ]
    for (query, count) in counts {
      #expect(try lab.get("/api/v1/tokens?\(query)")["tokens"].count == count, "\(query)")
    }
    for query in ["token=xyz", "token=abc", "state=dead", "environment=moon", "limit=0", "since=-1"] {
      _ = try lab.refusal("GET", "/api/v1/tokens?\(query)", 400)
    }
  }

  @Test("Pages follow one another until there is no next")
  func pages() throws {
    let lab = ConsoleLab()
    for number in 0..<5 { try lab.install("phone\(number)") }
    var (seen, target): ([String], String?) = ([], "/api/v1/tokens?limit=2")
    while let page = target {
      let answer = try lab.get(page)
      seen += answer["tokens"].elements.compactMap { $0["udid"].string }
      target = answer["next"].integer.map { "/api/v1/tokens?limit=2&since=\($0)" }
    }
    #expect(seen == (0..<5).map { "phone\($0)" })
  }

  @Test("A token whose app the device reported gone says when, and feedback has it")
  func gone() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    _ = try lab.connect()
    #expect(try lab.ask("POST", "/api/v1/devices/phone/apps/com.example.app/remove").status == 200)
    #expect(try lab.get("/api/v1/tokens")["tokens"][0]["installed"].bool == false)
    #expect(try lab.get("/api/v1/feedback")["feedback"].count == 0)
    lab.clock.pass(seconds: 5)
    try lab.push(token.bytes, "{}")
    let row = try lab.get("/api/v1/tokens?state=gone")["tokens"][0]
    #expect(row["goneAt"].string == "2026-01-02T03:04:10.000Z")
    let entries = try lab.get("/api/v1/feedback?topic=com.example.app")["feedback"]
    #expect(
      entries.text
        == #"[{"timestamp":"2026-01-02T03:04:10.000Z","token":"\#(token.hex)","topic":"com.example.app","#
        + #""udid":"phone","environment":"sandbox"}]"#)
    #expect(try lab.get("/api/v1/feedback?topic=com.example.other")["feedback"].count == 0)
    #expect(try lab.get("/api/v1/feedback")["feedback"].count == 1, "looking does not clear")
  }

  @Test("A token of one's own is the app's from then on: 201, then 200, and 409 for anybody else")
  func chosen() throws {
    let lab = ConsoleLab()
    let given = try lab.install("phone")
    for digits in [
      "746f6b656e", "aB01" + String(repeating: "0", count: 60), String(repeating: "7f", count: 100),
    ] {
      let path = "/api/v1/tokens/\(digits)"
      let body = #"{"udid":"phone","topic":"com.example.app"}"#
      #expect(try lab.ask("PUT", path, json: body).status == 201)
      #expect(try lab.ask("PUT", path, json: body).status == 200)
      for other in [
        #"{"udid":"tablet","topic":"com.example.app"}"#, #"{"udid":"phone","topic":"com.example.other"}"#,
        #"{"udid":"phone","topic":"com.example.app","environment":"production"}"#,
      ] {
        #expect(try lab.refusal("PUT", path, 409, json: other).contains("com.example.app on phone"))
      }
      let row = try lab.get(path)
      #expect(row["token"].string == digits.lowercased() && row["udid"].string == "phone")
      #expect(row["derivation"]["isOurs"].bool == false)
      #expect(try lab.get("/api/v1/tokens?token=\(digits)")["tokens"].count == 1)
    }
    let installed = try lab.get("/api/v1/tokens")["tokens"].elements.filter { $0["installed"].bool == true }
    #expect(installed.map { $0["token"].string } == [String(repeating: "7f", count: 100)])
    #expect(try lab.get("/api/v1/tokens/\(given.hex)")["installed"].bool == false)
  }

  @Test("What is no token, or nobody's, is refused")
  func notChosen() throws {
    let lab = ConsoleLab()
    let body = #"{"udid":"phone","topic":"com.example.app"}"#
    for digits in ["a", "zz", "0x12", String(repeating: "7f", count: 101)] {
      _ = try lab.refusal("PUT", "/api/v1/tokens/\(digits)", 400, json: body)
    }
    for body in [
      "{}", #"{"udid":"phone"}"#, #"{"udid":"..","topic":"a"}"#, #"{"udid":"p","topic":"a","x":1}"#,
    ] {
      _ = try lab.refusal("PUT", "/api/v1/tokens/ab", 400, json: body)
    }
    lab.broker.registry.customLimit = 1
    #expect(try lab.ask("PUT", "/api/v1/tokens/ab", json: body).status == 201)
    #expect(try lab.refusal("PUT", "/api/v1/tokens/cd", 409, json: body).contains("1"))
  }
}
