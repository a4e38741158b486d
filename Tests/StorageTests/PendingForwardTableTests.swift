import Broker
import PushModel
import Storage
import TestSupport
import Testing

@Suite("What waits to be forwarded in the store")
struct PendingForwardTableTests {
  let folder = ScratchFolder()
  var path: String { folder.file("store.db") }

  private func add(_ text: String, _ fleet: Fleet) -> Int64 {
    fleet.broker.pendingForwards.add(
      frame: Array(text.utf8), topic: "com.example.app", environment: .production,
      apnsID: APNSID(high: 0x0102_0304_0506_4708, low: 0x890a_0b0c_0d0e_0f10, upperCase: 0),
      receivedAt: fleet.now)
  }

  @Test("it comes back as it was committed, in order, without what was decided")
  func restart() throws {
    let fleet = try Fleet(path: path)
    let ids = ["one", "two", "", "four"].map { add($0, fleet) }
    try fleet.commit()
    fleet.broker.pendingForwards.remove(ids[1])
    try fleet.commit()
    // Never committed.
    _ = add("five", fleet)
    let expected = fleet.broker.pendingForwards.all.dropLast()
    try fleet.restart()
    #expect(fleet.broker.pendingForwards.all == Array(expected))
    #expect(expected.map { String(decoding: $0.frame, as: UTF8.self) } == ["one", "", "four"])
    #expect(add("six", fleet) > ids[3])
  }

  @Test("one that comes and goes within a turn is never written")
  func withinTurn() throws {
    let fleet = try Fleet(path: path)
    fleet.broker.pendingForwards.remove(add("brief", fleet))
    #expect(fleet.broker.turn.takeChanges().isEmpty)
  }

  /// Those of version 2 had none.
  private static let withoutChecks = [
    "topic", "device", "registration", "message_log", "channel", "subscription", "foreign_feedback",
  ].map { "ALTER TABLE \($0) DROP COLUMN rowCheck;" }.joined()

  @Test("a store of an earlier version finds room for it and keeps what it has")
  func olderVersion() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(2)
    fleet.push(1, "kept")
    try fleet.commit()
    let folder = ScratchFolder()
    try folder.copy(from: self.folder)
    try Raw.run(
      folder.file("store.db"),
      "DROP TABLE pending_forward; DROP TABLE token_context; \(Self.withoutChecks) PRAGMA user_version = 2")
    let older = try Fleet(path: folder.file("store.db"))
    #expect(older.kept(1) == "kept" && older.broker.pendingForwards.count == 0)
    _ = add("one", older)
    try older.commit()
    try older.restart()
    #expect(older.broker.pendingForwards.count == 1 && older.kept(1) == "kept")
  }

  @Test("one that was tampered with makes the store a damaged one")
  func damaged() throws {
    let fleet = try Fleet(path: path)
    _ = add("one", fleet)
    try fleet.commit()
    for change in ["environment = 7", "apnsId = 'x'", "topic = ''", "id = 0"] {
      let folder = ScratchFolder()
      try folder.copy(from: self.folder)
      try Raw.run(folder.file("store.db"), "UPDATE pending_forward SET \(change)")
      let error = #expect(throws: StoreError.self) { try Fleet(path: folder.file("store.db")) }
      #expect(error?.code == .damaged)
    }
  }
}
