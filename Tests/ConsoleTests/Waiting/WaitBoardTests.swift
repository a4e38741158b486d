import Basics
import Broker
import Console
import ConsoleAnswers
import PushModel
import Testing

/// How much is looked at for those who wait, in units of `Slice`.
@Suite struct WaitBoardTests {
  private let path = "/api/v1/notifications/wait"

  /// Opens waits, then pushes; answers what looking at the pushes took.
  private func cost(_ lab: ConsoleLab, waits: [String], pushes: Int, _ token: DeviceToken) throws -> Int {
    for match in waits { try lab.open("POST", path, json: #"{"match": \#(match), "timeoutMs": 600000}"#) }
    lab.turn()
    #expect(lab.parts.waits.count == waits.count)
    for number in 0..<pushes { try lab.push(token.bytes, "{\"n\":\(number)}") }
    var slice = Slice(1_000_000_000)
    _ = lab.parts.waits.work(&slice)
    return 1_000_000_000 - slice.left
  }

  @Test(
    "A push is held only against waits that could want it",
    arguments: [
      #"{"token": "%"}"#, #"{"udid": "phone%"}"#, #"{"topic": "com.example.app%"}"#,
      #"{"token": "%", "q": "never"}"#,
    ])
  func indexed(match: String) throws {
    let lab = ConsoleLab(history: 1000)
    let token = try lab.install()
    let waits = (1...800).map { number in
      let digits = String(repeating: "0", count: 60) + String(number + 1000)
      return match.split(separator: "%").joined(separator: match.contains("token") ? digits : "\(number)")
    }
    // Three events a push, as each is stored and takes the place of the one before: a look each, and no more.
    #expect(try cost(lab, waits: waits, pushes: 500, token) == 3 * 500 - 1)
  }

  @Test("Waits that ask for the same share one look")
  func shared() throws {
    let lab = ConsoleLab(history: 1000)
    let token = try lab.install()
    let waits = [String](repeating: #"{"q": "never"}"#, count: 800)
    // As above, and the text is looked for once in each that comes.
    #expect(try cost(lab, waits: waits, pushes: 500, token) == 3 * 500 - 1 + 500)
  }

  @Test(
    "Waits that share nothing take many turns of the loop, each within its budget, and find what they want")
  func unshared() throws {
    let lab = ConsoleLab(history: 1000)
    let token = try lab.install()
    let answers = try (0..<800).map {
      try lab.open("POST", path, json: #"{"match": {"q": "\"n\":\#($0)}"}}"#)
    }
    lab.turn()
    for number in 0..<100 { try lab.push(token.bytes, "{\"n\":\(number)}") }
    lab.endTurn()
    #expect(answers[99].response == nil)
    var turns = 0
    while turns < 10_000, answers[..<100].contains(where: { !$0.isComplete }) {
      lab.turn()
      turns += 1
    }
    // One turn has gone before.
    #expect(turns + 1 >= 100 * 700 / SliceScheduler.turnBudget)
    #expect(answers[100...].allSatisfy { $0.response == nil })
    #expect(lab.parts.waits.count == 700)
  }

  @Test("A wait looks through a long history in slices, and ends only when it has seen all")
  func history() throws {
    let lab = ConsoleLab(history: 20_000)
    let token = try lab.install()
    for number in 0..<15_000 { try lab.push(token.bytes, "{\"n\":\(number)}") }
    let found = try lab.open("POST", path, json: #"{"match": {"q": "14999"}, "timeoutMs": 0}"#)
    let missed = try lab.open("POST", path, json: #"{"match": {"q": "15000"}, "timeoutMs": 0}"#)
    #expect(found.response == nil && missed.response == nil)
    #expect(try lab.whole(found).status == 200)
    #expect(try lab.whole(missed).status == 408)
    #expect(lab.parts.waits.count == 0 && lab.timers.count == 0)
  }

  @Test("What came before counts before what comes while it is looked for")
  func order() throws {
    let lab = ConsoleLab(history: 20_000)
    let token = try lab.install()
    for number in 0..<15_000 { try lab.push(token.bytes, "{\"n\":\(number)}") }
    let answer = try lab.open("POST", path, json: #"{"match": {"q": "14999"}}"#)
    try lab.push(token.bytes, #"{"n":"14999 again"}"#)
    lab.endTurn()
    let document = try #require(JSONReader.read(try lab.whole(answer).body))
    #expect(document["notifications"][0]["id"].integer == 15_000 && document["next"].integer == 15_000)
  }

  @Test("A state that was passed in one turn was reached all the same")
  func passedState() throws {
    let lab = ConsoleLab()
    let token = try lab.install()
    let phone = try lab.connect()
    let answers = try ["sent", "delivered", "stored"].map {
      try lab.open("POST", path, json: #"{"match": {"state": "\#($0)"}}"#)
    }
    try lab.push(token.bytes, "{}")
    lab.broker.deliveries.acknowledge(phone.link, messageId: phone.messageIds[0], status: 0, now: lab.now)
    lab.endTurn()
    #expect(answers.map { $0.response?.status } == [200, 200, nil])
  }

  @Test("When more happens than the log of events holds, everybody looks at the history instead")
  func overrun() throws {
    let lab = ConsoleLab(history: 30_000)
    let token = try lab.install()
    let answers = try [#"{"q": "\"n\":5}"}"#, #"{"state": "stored", "q": "\"n\":19999}"}"#].map {
      try lab.open("POST", path, json: #"{"match": \#($0)}"#)
    }
    for number in 0..<20_000 { try lab.push(token.bytes, "{\"n\":\(number)}") }
    #expect(lab.broker.events.firstNumber > 20_000, "the first pushes are lost from the log")
    for (answer, id) in zip(answers, [6, 20_000]) {
      let document = try #require(JSONReader.read(try lab.whole(answer).body))
      #expect(document["notifications"][0]["id"].integer == Int64(id))
    }
  }
}
