import Basics
import Broker
import Storage
import TestSupport
import Testing

@Suite("Feedback on foreign tokens in the store")
struct ForeignFeedbackTableTests {
  let folder = ScratchFolder()
  var path: String { folder.file("store.db") }

  private func note(_ token: [UInt8], _ fleet: Fleet, at seconds: Int64) {
    fleet.broker.feedback.reportForeignGone(
      token: token, topic: 0, environment: .production, goneAt: Timestamp(seconds: seconds))
  }

  @Test("entries come back as they were committed, without those that were read")
  func restart() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    for number in 1...3 { note([UInt8](repeating: UInt8(number), count: number), fleet, at: Int64(number)) }
    try fleet.commit()
    fleet.broker.feedback.clearForeign([fleet.broker.feedback.foreign.entries[1].id])
    note([1], fleet, at: 9)
    try fleet.commit()
    note([7], fleet, at: 7)
    let expected = fleet.broker.feedback.foreign.entries.dropLast()
    try fleet.restart()
    #expect(fleet.broker.feedback.foreign.entries == Array(expected))
    #expect(expected.map(\.token) == [[1], [3, 3, 3]])
    #expect(expected.first?.goneAt == Timestamp(seconds: 9))
  }

  @Test("ids go on after those of the entries that are left")
  func ids() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    note([1], fleet, at: 1)
    try fleet.commit()
    try fleet.restart()
    note([2], fleet, at: 2)
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.broker.feedback.foreign.entries.map(\.token) == [[1], [2]])
  }

  @Test("an entry of a topic that is not there makes the store a damaged one")
  func damaged() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    fleet.broker.feedback.reportForeignGone(token: [1], topic: 99, environment: .sandbox, goneAt: fleet.now)
    try fleet.commit()
    let error = #expect(throws: StoreError.self) { try fleet.restart() }
    #expect(error?.code == .damaged)
  }
}
