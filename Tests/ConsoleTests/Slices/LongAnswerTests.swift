import Basics
import Broker
import PushModel
import Testing
import Transport

import Console
import ConsoleAnswers

/// Long answers, as clients of the console see them.
@Suite struct LongAnswerTests {
  /// Most that one turn may write: its budget, all of it spent on bytes, and an element that was begun.
  private static let bytesPerTurn = SliceScheduler.turnBudget * Slice.bytesWritten + LongAnswer.wholeLimit

  private func lab(pushes: Int, history: Int = 10_000) throws -> (ConsoleLab, DeviceToken) {
    let lab = ConsoleLab(history: history)
    let token = try lab.install()
    for number in 0..<pushes { try lab.push(token.bytes, "{\"n\":\(number)}") }
    return (lab, token)
  }

  private func ids(_ response: HTTPResponse) throws -> [Int64] {
    let document = try #require(JSONReader.read(response.body))
    return document["notifications"].elements.compactMap { $0["id"].integer }
  }

  @Test("A long list takes many turns, each of them short, and is whole in the end")
  func long() throws {
    let (lab, _) = try lab(pushes: 3000)
    let answer = try lab.open("GET", "/api/v1/notifications?limit=10000")
    var (turns, before) = (0, 0)
    while !answer.isComplete, turns < 10_000 {
      let written = answer.streamed.utf8.count
      #expect(written - before <= Self.bytesPerTurn)
      before = written
      lab.turn()
      turns += 1
    }
    let response = try #require(answer.response)
    #expect(try ids(response) == (1...3000).map(Int64.init))
    #expect(turns >= response.body.count / Self.bytesPerTurn && turns > 10)
    #expect(response.field("cache-control") == "no-store" && response.status == 200)
  }

  @Test("A search for what is rare takes many turns, too")
  func rare() throws {
    let (lab, _) = try lab(pushes: 9000)
    let answer = try lab.open("GET", "/api/v1/notifications?q=%22n%22:8999")
    #expect(answer.response == nil)
    var turns = 0
    while !answer.isComplete, turns < 1000 {
      lab.turn()
      turns += 1
    }
    #expect(try ids(try #require(answer.response)) == [9000])
    #expect(turns >= 9000 / SliceScheduler.turnBudget)
  }

  @Test("Short answers leave whole while a long one is being written")
  func short() throws {
    let (lab, _) = try lab(pushes: 3000)
    let long = try lab.open("GET", "/api/v1/notifications?limit=10000")
    let short = try lab.open("GET", "/api/v1/notifications?limit=1")
    for _ in 0..<3 { lab.turn() }
    #expect(short.isComplete && !short.hasEnded && !long.isComplete)
  }

  @Test("A client that does not read gets no more until it does")
  func backPressure() throws {
    let (lab, _) = try lab(pushes: 3000)
    let answer = try lab.open("GET", "/api/v1/notifications?limit=10000")
    for _ in 0..<20 { lab.turn() }
    answer.queuedBytes = LongAnswer.unreadLimit
    let before = answer.streamed
    for _ in 0..<100 { lab.turn() }
    #expect(answer.streamed == before && lab.timers.count == 0)
    answer.queuedBytes = 0
    answer.exchange?.roomMade()
    #expect(try ids(lab.whole(answer)).count == 3000)
  }

  @Test("What comes while a list is written is not in it, and what the ring loses is left out")
  func ring() throws {
    let (lab, token) = try lab(pushes: 2000, history: 2000)
    let answer = try lab.open("GET", "/api/v1/notifications?limit=10000")
    lab.turn()
    for _ in 0..<1500 { try lab.push(token.bytes, "{}") }
    let response = try lab.whole(answer)
    let ids = try ids(response)
    let lost = try #require(zip(ids, ids.dropFirst()).first { $1 != $0 + 1 })
    #expect(lost.1 == 1501, "ids \(lost.0 + 1) to 1500 were overwritten before their turn")
    #expect(ids == Array(1...lost.0) + Array(1501...2000))
    #expect(JSONReader.read(response.body)?["next"].integer == 2000)
  }

  @Test("Newest first it is the same from the other end")
  func ringBackwards() throws {
    let (lab, token) = try lab(pushes: 2000, history: 2000)
    let answer = try lab.open("GET", "/api/v1/notifications?limit=10000&order=newest")
    lab.turn()
    for _ in 0..<1500 { try lab.push(token.bytes, "{}") }
    let ids = try ids(try lab.whole(answer))
    #expect(ids == ids.sorted(by: >) && ids.first == 2000 && ids.last == 1501)
  }

  @Test("Deleting goes through the history in slices, and what comes meanwhile stays")
  func delete() throws {
    let (lab, token) = try lab(pushes: 5000)
    let answer = try lab.open("DELETE", "/api/v1/notifications")
    try lab.push(token.bytes, "{}")
    #expect(answer.response == nil)
    #expect(JSONReader.read(try lab.whole(answer).body)?["deleted"].integer == 5000)
    #expect(try ids(try lab.ask("GET", "/api/v1/notifications")) == [5001])
  }

  @Test("Tokens, devices and feedback are lists in slices, and a reset ends them")
  func registry() throws {
    let lab = ConsoleLab()
    for number in 0..<1000 { try lab.install("phone\(number)") }
    for (path, name) in [("tokens", "tokens"), ("devices", "devices")] {
      let answer = try lab.open("GET", "/api/v1/\(path)")
      #expect(!answer.isComplete)
      let whole = try #require(JSONReader.read(try lab.whole(answer).body))
      #expect(whole[name].count == 1000 && whole["next"].isNull)
      let cut = try lab.open("GET", "/api/v1/\(path)")
      lab.turn()
      lab.broker.forgetDevices(now: lab.now)
      let rest = try #require(JSONReader.read(try lab.whole(cut).body))
      #expect((1..<1000).contains(rest[name].count) && rest["next"].isNull)
      for number in 0..<1000 { try lab.install("phone\(number)") }
    }
  }

  @Test("A device with more apps than fit a turn is written in slices")
  func manyApps() throws {
    let lab = ConsoleLab()
    for number in 0..<1000 { try lab.install("phone", "com.example.app\(number)") }
    let answer = try lab.open("GET", "/api/v1/devices/phone")
    #expect(!answer.isComplete)
    #expect(JSONReader.read(try lab.whole(answer).body)?["topics"].count == 1000)
  }

  @Test("An export of many devices takes turns, fits together, and is void when they are reset meanwhile")
  func export() throws {
    let lab = ConsoleLab()
    for number in 0..<1000 { try lab.install("phone\(number)") }
    let answer = try lab.open("GET", "/api/v1/export")
    try lab.install("late")
    let document = String(decoding: try lab.whole(answer).body, as: UTF8.self)
    #expect(document.contains("phone999") && !document.contains("\"late\""))
    let void = try lab.open("GET", "/api/v1/export")
    for _ in 0..<200 where void.streamed.isEmpty { lab.turn() }
    try #require(!void.streamed.isEmpty && !void.isComplete)
    lab.broker.forgetDevices(now: lab.now)
    lab.turn()
    #expect(void.hasEnded && !void.isComplete, "cut, not ended")
    try lab.install()
    let early = try lab.open("GET", "/api/v1/export")
    #expect(early.isComplete)
  }

  @Test("HEAD of a long list is a head, and nothing is written behind it")
  func head() throws {
    let (lab, _) = try lab(pushes: 3000)
    let answer = try lab.open("HEAD", "/api/v1/notifications?limit=10000")
    for _ in 0..<100 { lab.turn() }
    #expect(answer.response?.status == 200 && lab.timers.count == 0 && answer.exchange?.isOpen == false)
  }

  @Test("Nothing goes on for a client that has gone")
  func gone() throws {
    let (lab, _) = try lab(pushes: 3000)
    let answer = try lab.open("GET", "/api/v1/notifications?limit=10000")
    answer.exchange?.clientGone()
    for _ in 0..<2 { lab.turn() }
    #expect(lab.timers.count == 0 && !answer.isComplete)
  }
}
