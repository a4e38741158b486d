import Advice
import Basics
import Console
import Testing

@Suite("What providers were seen to do, by the API")
struct AdviceRoutesTests {
  private let board = FakeAdvice()
  private let lab = GroupLab()

  private func ask(_ query: String = "") throws -> JSONValue {
    try lab.document(AdviceGroup(board), "GET", "/api/v1/advice\(query)")
  }

  private func ids(_ query: String) throws -> [String?] {
    try ask(query)["findings"].elements.map { $0["id"].string }
  }

  @Test("a finding has who, how often, when, examples, words, page and faults")
  func finding() throws {
    board.list = [.made()]
    let expected = #"""
      {"id":"lost-after-error","severity":"error",
      "provider":{"interface":"gateway","credential":"certificate of com.example.app","peer":"192.0.2.1"},
      "connections":2,"count":87,"first":"2023-11-14T22:13:20.000Z","last":"2023-11-14T22:14:20.000Z",
      "notifications":[17,18,19],"sentence":"What was seen.","remedy":"What to do.",
      "evidence":{"page":"Documentation/advice.md","heading":"lost-after-error"},
      "faults":[{"name":"half","count":3}]}
      """#.filter { $0 != "\n" }
    #expect(try ask()["findings"][0].text == expected)
  }

  @Test("where there is nothing to say, the number of pushes is told all the same")
  func nothing() throws {
    board.pushes = 120
    #expect(
      try ask().text == #"{"findings":[],"notifications":120,"counts":{"error":0,"warning":0,"note":0}}"#)
  }

  @Test("they are counted by severity, and asked for by that or worse")
  func severities() throws {
    board.list = [
      .made(), .made(.lostAtGoAway), .made(.noPushType, .warning), .made(.command0, .note),
    ]
    let counts = try ask()["counts"]
    #expect(counts["error"].text == "2" && counts["warning"].text == "1" && counts["note"].text == "1")
    #expect(try ids("?severity=note").count == 4)
    #expect(try ids("?severity=warning") == ["lost-after-error", "lost-at-goaway", "no-push-type"])
    #expect(try ids("?severity=error").count == 2)
  }

  @Test("all filters must hold")
  func filters() throws {
    board.list = [.made(), .made(topic: "com.example.other"), .made(.command0, .note, peer: "192.0.2.2")]
    #expect(try ids("?id=command-0") == ["command-0"])
    #expect(try ids("?peer=192.0.2.1").count == 2)
    #expect(try ids("?credential=certificate%20of%20com.example.other&interface=gateway").count == 1)
    #expect(try ids("?interface=provider").isEmpty)
    #expect(try ids("?id=command-0&severity=error").isEmpty)
  }

  @Test(
    "a rule or a severity that there is not is refused, with those that there are",
    arguments: ["id", "severity"])
  func unknown(name: String) throws {
    let answer = try lab.ask(AdviceGroup(board), "GET", "/api/v1/advice?\(name)=nothing")
    #expect(answer.status == 400)
    let text = String(decoding: answer.body, as: UTF8.self)
    #expect(text.contains(name == "id" ? "lost-after-error" : "warning"))
  }

  @Test(
    "a reset of advice, of notifications or of everything clears it",
    arguments: [
      #"{"what":["advice"]}"#, #"{"what":["notifications"]}"#, "{}",
    ])
  func reset(body: String) throws {
    let lab = ConsoleLab { $0.advice = board }
    board.list = [.made()]
    #expect(try lab.ask("POST", "/api/v1/reset", json: body).status == 200)
    #expect(board.clearings > 0 && board.list.isEmpty)
  }

  @Test("a reset of anything else leaves it")
  func otherReset() throws {
    let lab = ConsoleLab { $0.advice = board }
    board.list = [.made()]
    #expect(
      try lab.ask("POST", "/api/v1/reset", json: #"{"what":["faults","clock","devices"]}"#).status == 200)
    #expect(board.clearings == 0 && board.list.count == 1)
  }

  @Test("once providers have sent all that they will, what they have lost is told at once")
  func complete() throws {
    (board.list, board.late) = ([.made(.noPushType, .warning)], [.made(.lostAfterError, .error)])
    #expect(try ask("")["counts"].text == #"{"error":0,"warning":1,"note":0}"#)
    let answer = try lab.document(AdviceGroup(board), "POST", "/api/v1/advice/complete")
    #expect(answer["counts"].text == #"{"error":1,"warning":1,"note":0}"#)
    #expect(try ask("?id=lost-after-error")["findings"].text.contains("lost-after-error"))
  }
}
