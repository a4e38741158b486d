import Basics
import Broker
import Console
import Testing
import Transport

@Suite struct WaitTests {
  private let path = "/api/v1/notifications/wait"

  private func body(_ answer: Answer) throws -> JSONValue {
    let response = try #require(answer.response)
    return try #require(JSONReader.read(response.body))
  }

  @Test("What came before is answered at once")
  func before() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    for number in 0..<3 { try lab.push(token.bytes, "{\"n\":\(number)}") }
    let answer = try lab.open("POST", path, json: #"{"match": {"topic": "com.example.app"}, "count": 2}"#)
    #expect(answer.response?.status == 200)
    let ids = try body(answer)["notifications"].elements.map { $0["id"].integer }
    #expect(ids == [1, 2])
    #expect(try body(answer)["next"].integer == 2)
    #expect(lab.timers.count == 0)
  }

  @Test(
    "A beginning may stand with the filters, as in a query",
    arguments: [#"{"since": 2}"#, #"{"since": "2"}"#])
  func sinceAmongFilters(match: String) throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    for number in 0..<3 { try lab.push(token.bytes, "{\"n\":\(number)}") }
    let answer = try lab.open("POST", path, json: #"{"match": \#(match)}"#)
    #expect(try body(answer)["notifications"].elements.map { $0["id"].integer } == [3])
    #expect(try lab.refusal("POST", path, 400, json: #"{"match": {"since": "soon"}}"#).contains("soon"))
    #expect(
      try lab.refusal("POST", path, 400, json: #"{"since": 1, "match": {"since": "soon"}}"#).contains("soon"))
  }

  @Test("What comes later is answered at the end of its turn, and only what matches counts")
  func later() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    let answer = try lab.open("POST", path, json: #"{"match": {"q": "hello"}}"#)
    #expect(answer.response == nil)
    try lab.push(token.bytes, #"{"say":"goodbye"}"#)
    lab.endTurn()
    #expect(answer.response == nil)
    try lab.push(token.bytes, #"{"say":"Hello"}"#)
    #expect(answer.response == nil, "not before the commit")
    lab.endTurn()
    #expect(try body(answer)["notifications"][0]["payload"]["say"].string == "Hello")
    #expect(lab.timers.count == 0, "the timeout is off")
  }

  @Test("Those who wait and watch leave connections for others: one more is told to come again")
  func tooMany() throws {
    #expect(WaitBoard.limit + EventPump.streamLimit < HTTPLimits().connections)
    let lab = ConsoleLab()
    let waiting = try (0..<WaitBoard.limit).map { _ in try lab.open("POST", path) }
    #expect(waiting.allSatisfy { $0.response == nil })
    let refused = try lab.ask("POST", path)
    #expect(refused.status == 503 && refused.field("retry-after") == "1")
    lab.console.shutDown()
    let watching = try (0..<EventPump.streamLimit).map { _ in try lab.open("GET", "/api/v1/events") }
    let turnedAway = try lab.ask("GET", "/api/v1/events")
    #expect(turnedAway.status == 503 && turnedAway.field("retry-after") == "1")
    withExtendedLifetime(watching) {}
  }

  @Test("With since, only what is newer counts")
  func since() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    for _ in 0..<2 { try lab.push(token.bytes, "{}") }
    let answers = [
      try lab.open("POST", path, json: #"{"since": 2}"#),
      try lab.open("POST", path, json: #"{"since": "2"}"#),
      try lab.open("POST", path, json: #"{"since": "2026-01-02T03:04:06Z"}"#),
    ]
    lab.clock.pass(seconds: 1)
    #expect(answers.allSatisfy { $0.response == nil })
    try lab.push(token.bytes, "{}")
    lab.endTurn()
    for answer in answers { #expect(try body(answer)["notifications"][0]["id"].integer == 3) }
  }

  @Test("A state that a notification reaches later is waited for")
  func state() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    try lab.push(token.bytes, "{}")
    let answer = try lab.open("POST", path, json: #"{"match": {"state": "delivered"}}"#)
    let phone = try lab.connect()
    lab.endTurn()
    #expect(answer.response == nil)
    lab.broker.deliveries.acknowledge(phone.link, messageId: phone.messageIds[0], status: 0, now: lab.now)
    lab.endTurn()
    #expect(try body(answer)["notifications"][0]["state"].string == "delivered")
  }

  @Test("A timeout tells what matched, what came nearest and why that failed")
  func timeout() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    try lab.push(token.bytes, "{}")
    try lab.push([UInt8](repeating: 7, count: 32), "{}")
    let match = #"{"topic": "com.example.app", "udid": "phone", "interface": "gateway"}"#
    let answer = try lab.open("POST", path, json: #"{"match": \#(match), "count": 2, "timeoutMs": 300}"#)
    lab.timers.pass(milliseconds: 299)
    #expect(answer.response == nil)
    lab.timers.pass(milliseconds: 1)
    #expect(answer.response?.status == 408)
    let document = try body(answer)
    #expect(document["error"]["message"].string == "1 of 2 notifications matched within 300 ms")
    #expect(document["notifications"].count == 1)
    #expect(document["nearMisses"].count == 1)
    #expect(document["nearMisses"][0]["notification"]["id"].integer == 2)
    #expect(
      document["nearMisses"][0]["failed"].text == #"[{"filter":"udid","expected":"phone","actual":null}]"#)
  }

  @Test("The nearest misses are those that fail the fewest filters, the newest first")
  func nearest() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    try lab.push(token.bytes, "{}", interface: .provider)
    for _ in 0..<6 { try lab.push(token.bytes, "{}") }
    let match = #"{"interface": "provider", "state": "delivered"}"#
    let answer = try lab.open("POST", path, json: #"{"match": \#(match), "timeoutMs": 0}"#)
    let misses = try body(answer)["nearMisses"].elements.map { $0["notification"]["id"].integer }
    #expect(misses == [1, 7, 6, 5, 4])
  }

  @Test("A client that goes is forgotten, and its timer with it")
  func gone() throws {
    let lab = ConsoleLab()
    let answer = try lab.open("POST", path, json: "{}")
    #expect(lab.parts.waits.count == 1 && lab.timers.count == 1)
    answer.exchange?.clientGone()
    #expect(lab.parts.waits.count == 0 && lab.timers.count == 0)
    try lab.push(try lab.install().bytes, "{}")
    lab.endTurn()
    lab.timers.pass(milliseconds: 10_000)
    #expect(answer.response == nil)
  }

  @Test("Deleted and overwritten notifications don't count")
  func ring() throws {
    let lab = ConsoleLab(history: 2)
    let token = try lab.install()
    let answer = try lab.open("POST", path, json: #"{"match": {"state": "delivered"}, "count": 1}"#)
    for _ in 0..<5 {
      try lab.push(token.bytes, "{}")
      lab.endTurn()
    }
    _ = try lab.ask("DELETE", "/api/v1/notifications")
    lab.timers.pass(milliseconds: 5000)
    #expect(answer.response?.status == 408)
    #expect(try body(answer)["nearMisses"].count == 0)
  }

  @Test(
    "A bad body says what was expected",
    arguments: [
      (#"{"count": 0}"#, "count"), (#"{"count": "2"}"#, "count"), (#"{"timeoutMs": 600001}"#, "timeoutMs"),
      (#"{"timeoutMs": -1}"#, "timeoutMs"), (#"{"match": []}"#, "match"),
      (#"{"match": {"topci": "a"}}"#, "topci"),
      (#"{"match": {"status": true}}"#, "status"), (#"{"since": "yesterday"}"#, "since"),
      (#"{"since": -1}"#, "since"), (#"{"macth": {}}"#, "macth"), ("[]", "object"),
    ])
  func badBody(json: String, word: String) throws {
    #expect(try ConsoleLab().refusal("POST", path, 400, json: json).contains(word))
  }

  @Test("A status may be a number or its digits")
  func statusTypes() throws {
    let lab = ConsoleLab()
    try lab.push(try lab.install().bytes, "{}")
    for status in ["200", "\"200\"", "200.0"] {
      let answer = try lab.open("POST", path, json: #"{"match": {"status": \#(status)}}"#)
      #expect(answer.response?.status == 200)
    }
  }

  @Test("When the emulator stops, everybody who waits is told")
  func shutDown() throws {
    let lab = ConsoleLab()
    let answer = try lab.open("POST", path, json: "{}")
    lab.console.shutDown()
    #expect(answer.response?.status == 503)
  }
}
