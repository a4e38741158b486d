import PushModel
import Testing

import Broker

@Suite("Feedback on tokens of another service")
struct ForeignFeedbackTests {
  private let lab = Lab()

  private func note(_ token: [UInt8], topic: String = Lab.app, _ environment: Environment = .sandbox) throws {
    lab.broker.feedback.reportForeignGone(
      token: token, topic: try lab.topic(topic), environment: environment, goneAt: lab.now)
  }

  private func tokens(_ topic: String = Lab.app, _ environment: Environment = .sandbox) throws -> [[UInt8]] {
    lab.broker.feedback.foreign(topics: [try lab.topic(topic)], environment: environment).map(\.token)
  }

  @Test("entries are told by topic and environment, oldest first, tokens of any length")
  func scope() throws {
    try note([1, 2, 3])
    try note([4], topic: "com.example.other")
    try note([5], .production)
    try note([6])
    #expect(try tokens() == [[1, 2, 3], [6]])
    #expect(try tokens("com.example.other") == [[4]])
    #expect(try tokens(Lab.app, .production) == [[5]])
  }

  @Test("a token has one entry, with the latest time")
  func repeated() throws {
    try note([1])
    let first = lab.now
    lab.pass(seconds: 60)
    try note([1])
    #expect(lab.broker.feedback.foreign.entries.map(\.goneAt) == [lab.now])
    lab.broker.feedback.reportForeignGone(
      token: [1], topic: try lab.topic(), environment: .sandbox, goneAt: first)
    #expect(lab.broker.feedback.foreign.entries.map(\.goneAt) == [lab.now])
  }

  @Test("what was read is gone, and comes back when the token is found gone again")
  func cleared() throws {
    try note([1])
    try note([2])
    let ids = lab.broker.feedback.foreign.entries.map(\.id)
    lab.broker.feedback.clearForeign([ids[0]])
    #expect(try tokens() == [[2]])
    try note([1])
    #expect(try tokens() == [[2], [1]])
    #expect(lab.broker.feedback.foreign.entries.last?.id != ids[0])
  }

  @Test("the store hears of what came and what went, once")
  func changes() throws {
    try note([1])
    let id = try #require(lab.broker.feedback.foreign.entries.first?.id)
    #expect(lab.broker.turn.takeChanges().foreignFeedback == [id])
    #expect(lab.broker.turn.takeChanges().foreignFeedback == [])
    lab.pass(seconds: 1)
    try note([1])
    #expect(lab.broker.turn.takeChanges().foreignFeedback == [id], "with another time")
    lab.broker.feedback.clearForeign([id])
    let changes = lab.broker.turn.takeChanges()
    #expect(changes.foreignFeedback == [id] && !changes.isEmpty)
    #expect(lab.broker.feedback.foreign[id] == nil)
  }

  @Test("forgetting all devices forgets it too")
  func reset() throws {
    try note([1])
    lab.broker.forgetDevices(now: lab.now)
    #expect(lab.broker.feedback.foreign.entries.isEmpty)
  }

  private func entry(_ id: Int64) -> ForeignFeedback.Entry {
    let token = withUnsafeBytes(of: id) { Array($0) }
    return .init(id: id, token: token, topic: 0, environment: .sandbox, goneAt: lab.now)
  }

  @Test("of 100,000 the oldest makes room for the newest")
  func limit() {
    var feedback = ForeignFeedback()
    for id in 1...100_000 as ClosedRange<Int64> { feedback.restore(entry(id)) }
    feedback.add(token: [1], topic: 0, environment: .sandbox, goneAt: lab.now)
    #expect(feedback.entries.last?.token == [1] && feedback.entries.count == 100_000)
    #expect(feedback[1] == nil && feedback[2] != nil)
  }

  @Test("an id that was given before, or that no run has come to, is not put back")
  func ids() {
    var feedback = ForeignFeedback()
    let ids: [Int64] = [0, 1, 1, 1 << 62 + 1, 1 << 62, 1 << 62]
    #expect(ids.map { feedback.restore(entry($0)) } == [false, true, false, false, true, false])
  }
}
