import Basics
import Broker
import Testing
import Transport

import Console
import ConsoleAnswers

@Suite struct EventStreamTests {
  private struct Event {
    var id = ""
    var name = ""
    var data = JSONValue.null
  }

  /// What was told behind the event that every stream begins with.
  private func events(_ answer: Answer) throws -> [Event] {
    let all = try everything(answer)
    #expect(all.first?.name == "boot")
    return Array(all.dropFirst())
  }

  private func everything(_ answer: Answer) throws -> [Event] {
    try answer.streamed.split(separator: "\n\n").compactMap { block in
      var event = Event()
      for line in block.split(separator: "\n") {
        let sides = line.split(separator: ":", maxSplits: 1).map { $0.drop { $0 == " " } }
        switch sides.first {
        case "id": event.id = String(sides[1])
        case "event": event.name = String(sides[1])
        case "data": event.data = try #require(JSONReader.read(Array(sides[1].utf8)))
        default: continue
        }
      }
      return event.name.isEmpty ? nil : event
    }
  }

  private func watch(_ lab: ConsoleLab, _ query: String = "", fields: [HTTPField] = []) throws -> Answer {
    try lab.open("GET", "/api/v1/events\(query)", fields: fields)
  }

  /// Ends the turn and lets the batch out, over as many turns as it takes.
  private func settle(_ lab: ConsoleLab) {
    lab.endTurn()
    lab.timers.pass(milliseconds: 50)
    for _ in 0..<200 { lab.turn() }
  }

  @Test("A flood that many watch is described once, and no turn writes more than its share")
  func slices() throws {
    let lab = ConsoleLab(history: 2000)
    let answers = try (0..<50).map { _ in try watch(lab) }
    let token = try lab.install()
    for _ in 0..<1000 { try lab.push(token.bytes, "{}") }
    lab.endTurn()
    let begun = answers.map(\.streamed.utf8.count)
    lab.timers.pass(milliseconds: 50)
    let first = zip(answers, begun).map { $0.streamed.utf8.count - $1 }
    let written = first.reduce(0, +)
    #expect(written > 0 && written < SliceScheduler.turnBudget * Slice.bytesWritten)
    var turns = 0
    var unfinished = answers[...]
    while turns < 1000, let next = unfinished.first {
      guard try events(next).count <= EventPump.batchLimit else {
        unfinished.removeFirst()
        continue
      }
      lab.turn()
      turns += 1
    }
    let told = try answers.map { try events($0).map { $0.id + $0.data.text } }
    #expect(turns > 1 && Set(told).count == 1)
    // Describing every event for everybody would have taken this many.
    let each = answers[0].streamed.utf8.count / Slice.bytesWritten
    #expect(turns < answers.count * each / SliceScheduler.turnBudget / 4)
  }

  @Test("What the ring loses while a stream is written is a gap")
  func lost() throws {
    let lab = ConsoleLab(history: 2000)
    let answer = try watch(lab)
    let token = try lab.install()
    for _ in 0..<1000 { try lab.push(token.bytes, "{}") }
    lab.endTurn()
    lab.timers.pass(milliseconds: 50)
    for _ in 0..<10_000 { try lab.push(token.bytes, "{}") }
    settle(lab)
    let seen = try events(answer)
    let told = seen.count { $0.name != "gap" }
    let missed = seen.compactMap { $0.data["missed"].integer }.reduce(0, +)
    #expect(Int64(told) + missed == Int64(lab.broker.events.nextNumber) - 1)
    #expect(seen.count { $0.name == "gap" } > 1)
  }

  @Test("A push, its way, its device and its token are told as they happen")
  func journey() throws {
    let lab = ConsoleLab()
    let answer = try watch(lab)
    #expect(answer.response?.field("content-type") == "text/event-stream")
    let token = try lab.install()
    try lab.push(token.bytes, #"{"aps":{}}"#)
    _ = try lab.connect()
    settle(lab)
    let seen = try events(answer)
    #expect(seen.map(\.name) == ["token", "notification", "delivery", "device", "delivery"])
    #expect(seen.allSatisfy { $0.data["event"].string == $0.name && $0.data["at"].string != nil })
    #expect(seen[0].data["change"].string == "issued" && seen[0].data["row"]["token"].string == token.hex)
    #expect(seen[1].data["notification"]["id"].integer == 1)
    #expect(seen[2].data["state"].string == "stored" && seen[4].data["state"].string == "sent")
    #expect(seen[3].data["udid"].string == "phone" && seen[3].data["change"].string == "connected")
  }

  @Test("A client that comes back gets what it missed, by query or header")
  func resume() throws {
    let lab = ConsoleLab()
    let first = try watch(lab)
    let token = try lab.install()
    settle(lab)
    let last = try #require(try events(first).last?.id)
    first.exchange?.clientGone()
    try lab.push(token.bytes, "{}")
    settle(lab)
    for answer in [
      try watch(lab, "?since=\(last)"), try watch(lab, fields: [HTTPField("Last-Event-ID", last)]),
      try watch(lab, "?since=1"),
    ] {
      #expect(try events(answer).map(\.name) == ["notification", "delivery"])
    }
    #expect(try events(first).count == 1, "nothing goes to a client that has gone")
  }

  @Test(
    "A stream begins with the boot id and a position, so that even who has seen no event can go on from there"
  )
  func boot() throws {
    let lab = ConsoleLab()
    let first = try watch(lab)
    let boot = try #require(try everything(first).first)
    #expect(boot.data["boot"].string == lab.parts.boot && boot.data["at"].string != nil)
    #expect(boot.id.hasPrefix("\(lab.parts.boot)-"))
    first.exchange?.clientGone()
    try lab.install()
    #expect(try events(try watch(lab, "?since=\(boot.id)")).map(\.name) == ["token"])
    #expect(ConsoleLab().parts.boot != lab.parts.boot)
    let info = try lab.ask("GET", "/api/v1/info")
    #expect(try #require(JSONReader.read(info.body))["boot"].string == lab.parts.boot)
  }

  @Test(
    "A position of another boot is answered with a gap and all that is remembered of this one",
    arguments: ["zzz-1", "zzz-0", "zzz-999"])
  func otherBoot(since: String) throws {
    let lab = ConsoleLab()
    _ = try watch(lab)
    try lab.install()
    let all = try everything(try watch(lab, "?since=\(since)"))
    #expect(all.map(\.name) == ["boot", "gap", "token"] && all[1].data["missed"].isNull)
    // Cut off right behind the gap, a client still gets what follows.
    #expect(try events(try watch(lab, "?since=\(all[1].id)")).map(\.name) == ["token"])
  }

  @Test("A position of the future is answered with a gap")
  func future() throws {
    let lab = ConsoleLab()
    _ = try watch(lab)
    try lab.install()
    let seen = try events(try watch(lab, "?since=999"))
    #expect(seen.map(\.name) == ["gap"] && seen[0].data["missed"].isNull)
  }

  @Test("Of a flood only the newest are sent, and the gap says how many are missing")
  func flood() throws {
    let lab = ConsoleLab(history: 2000)
    let answer = try watch(lab)
    let token = try lab.install()
    for _ in 0..<1000 { try lab.push(token.bytes, "{}") }
    settle(lab)
    let seen = try events(answer)
    #expect(seen[0].name == "gap" && seen.count == EventPump.batchLimit + 1)
    let missed = try #require(seen[0].data["missed"].integer)
    #expect(missed + Int64(EventPump.batchLimit) == Int64(lab.broker.events.nextNumber) - 1)
    #expect(seen.last?.data["state"].string == "stored")
  }

  @Test("A client that does not read is left alone until it does")
  func slowClient() throws {
    let lab = ConsoleLab()
    let answer = try watch(lab)
    answer.queuedBytes = EventPump.unreadLimit
    try lab.install()
    settle(lab)
    #expect(try events(answer).isEmpty)
    answer.queuedBytes = 0
    try lab.install("tablet")
    settle(lab)
    #expect(try events(answer).count == 2)
  }

  @Test("Events from outside the broker are told in their place")
  func published() throws {
    let lab = ConsoleLab()
    lab.parts.events.publish("connection", [("change", "unseen")])
    let answer = try watch(lab)
    try lab.install()
    lab.parts.events.publish("connection", [("change", "opened")])
    settle(lab)
    let seen = try events(answer)
    #expect(seen.map(\.name) == ["token", "connection"])
    #expect(seen[1].data.text == #"{"event":"connection","at":"2026-01-02T03:04:05.000Z","change":"opened"}"#)
  }

  @Test("An idle stream shows that it lives; without clients nothing ticks")
  func heartbeat() throws {
    let lab = ConsoleLab()
    let answer = try watch(lab)
    lab.timers.pass(milliseconds: 15_000)
    #expect(answer.streamed.hasSuffix(": \n\n"))
    answer.exchange?.clientGone()
    lab.timers.pass(milliseconds: 15_000)
    #expect(lab.timers.count == 0)
    let again = try watch(lab)
    lab.timers.pass(milliseconds: 15_000)
    #expect(again.streamed.hasSuffix(": \n\n"))
  }

  @Test("A bad position, a foreign page and too many clients are refused")
  func refused() throws {
    let lab = ConsoleLab()
    _ = try lab.refusal("GET", "/api/v1/events?since=now", 400)
    _ = try lab.refusal("GET", "/api/v1/events", 403, fields: [HTTPField("Origin", "http://evil.com")])
    let answers = try (0..<EventPump.streamLimit).map { _ in try watch(lab) }
    _ = try lab.refusal("GET", "/api/v1/events", 503)
    lab.console.shutDown()
    #expect(answers.count { !$0.hasEnded } == 0)
  }
}
