import Basics
import Testing

import Broker

@Suite("The journal")
struct JournalTests {
  private func lab(history: Int) -> Lab {
    var options = BrokerOptions()
    options.history = history
    return Lab(options: options)
  }

  private func payloads(_ journal: Journal) -> [String] {
    (journal.firstId..<journal.nextId).compactMap { journal[$0] }.map { $0.payload.text }
  }

  @Test("counts from 1 and forgets the oldest when it is full")
  func ring() throws {
    let lab = lab(history: 3)
    let row = try lab.row()
    let ids = (1...7).map { lab.push(row, "\($0)") }
    #expect(ids == [1, 2, 3, 4, 5, 6, 7])
    #expect(lab.broker.journal.firstId == 5)
    #expect(payloads(lab.broker.journal) == ["5", "6", "7"])
    #expect(lab.broker.journal[4] == nil)
    #expect(lab.broker.journal[8] == nil)
    #expect(lab.broker.journal[0] == nil)
    #expect(lab.broker.journal[.max] == nil)
  }

  @Test("each record keeps its own bytes when slots are used again", arguments: 1...5)
  func bytes(_ capacity: Int) throws {
    let lab = lab(history: capacity)
    let row = try lab.row()
    for number in 0..<50 {
      let text = String(repeating: "\(number % 10)", count: (number * 37) % 400)
      let id = lab.push(row, text)
      let record = try #require(lab.broker.journal[id])
      #expect(Array(record.payload) == Array(text.utf8))
      #expect(record.id == id)
    }
  }

  @Test("what becomes of a forgotten notification changes no other")
  func forgotten() throws {
    let lab = lab(history: 2)
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    let first = lab.push(row, "1")
    let others = [lab.push(row, "2"), lab.push(row, "3")]
    lab.acknowledge(phone, 0)
    #expect(lab.state(first) == nil)
    #expect(others.map { lab.state($0) } == [.sent, .sent])
  }

  @Test("clearing forgets everything but goes on counting")
  func clear() throws {
    let lab = lab(history: 4)
    let row = try lab.row()
    for number in 1...6 { lab.push(row, "\(number)") }
    lab.broker.journal.clear()
    #expect(payloads(lab.broker.journal).isEmpty)
    #expect(lab.push(row, "7") == 7)
    #expect(payloads(lab.broker.journal) == ["7"])
    for number in 8...12 { lab.push(row, "\(number)") }
    #expect(payloads(lab.broker.journal) == ["9", "10", "11", "12"])
  }

  @Test("details go when their notification goes")
  func details() throws {
    let lab = lab(history: 2)
    let row = try lab.row()
    let token = lab.broker.registry[row].token.bytes
    let ids = (0..<3).map { number in
      lab.submission(to: token, "", topic: 0) { submission in
        var submission = submission
        submission.detail = NotificationDetail(explanation: "\(number)")
        return lab.broker.routing.submit(submission, now: lab.now).id
      }
    }
    #expect(ids.map { lab.broker.journal.detail($0)?.explanation } == [nil, "1", "2"])
    lab.broker.journal.clear()
    #expect(lab.broker.journal.detail(ids[2]) == nil)
  }

  @Test("notifications are deleted one by one, and a slot that is used again shows what is in it")
  func hide() throws {
    let lab = lab(history: 5)
    let row = try lab.row()
    for number in 1...5 { lab.push(row, "\(number)") }
    for id in [2, 4, 4, 99] as [UInt64] { lab.broker.journal.hide(id) }
    #expect((1...5).filter { lab.broker.journal.shown($0) != nil } == [1, 3, 5])
    #expect(lab.broker.journal[2] != nil, "whoever must see everything still can")
    for number in 6...8 { lab.push(row, "\(number)") }
    #expect((1...8).filter { lab.broker.journal.shown($0) != nil } == [5, 6, 7, 8])
  }

  @Test("everything before an id is forgotten, and ids go on counting")
  func forget() throws {
    let lab = lab(history: 5)
    let row = try lab.row()
    for number in 1...4 { lab.push(row, "\(number)") }
    lab.broker.journal.forget(before: 3)
    lab.broker.journal.forget(before: 2)
    #expect(lab.broker.journal.firstId == 3 && lab.broker.journal.nextId == 5)
    lab.broker.journal.forget(before: 99)
    #expect(lab.broker.journal.firstId == 5, "nothing that is still to come")
  }

  @Test("its size stays within what the flag allows", arguments: [(0, 1), (-1, 1), (1, 1), (100, 100)])
  func capacity(_ asked: Int, _ expected: Int) {
    #expect(Journal(capacity: asked).capacity == expected)
  }

  @Test(
    "an id that no run has come to is not counted on from",
    arguments: [.max, .max - 1, 1 << 62 + 1] as [UInt64])
  func farIds(id: UInt64) throws {
    let lab = lab(history: 3)
    lab.broker.history.countIds(from: id)
    #expect(lab.push(try lab.row(), "first") == 1)
  }

  @Test("ids go on behind the last of an earlier run", arguments: [0, 1, 41, 1 << 62] as [UInt64])
  func earlierRun(last: UInt64) throws {
    let lab = lab(history: 3)
    lab.broker.history.countIds(from: last)
    #expect(lab.push(try lab.row(), "first") == last + 1)
  }
}
