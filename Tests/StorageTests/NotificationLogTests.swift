import Basics
import Broker
import PushModel
import Storage
import TestSupport
import Testing

@Suite("The log of kept messages")
struct NotificationLogTests {
  let folder = ScratchFolder()
  var path: String { folder.file("store.db") }

  @Test("keeps the newest of each registration")
  func newest() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(3)
    for round in 1...5 {
      for row in RegistrationID.rows(below: round % 3 + 1) { fleet.push(row, "\(round)") }
      try fleet.commit()
    }
    try fleet.restart()
    #expect(RegistrationID.rows(below: 3).map { fleet.kept($0) } == ["5", "5", "5"])
  }

  @Test("does not bring back a message that went away")
  func removed() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(2)
    fleet.push(0, "older")
    fleet.push(1, "stays")
    try fleet.commit()
    fleet.push(0, "short", expiration: UInt32(fleet.now.seconds + 1))
    try fleet.commit()
    fleet.broker.deliveries.dropExpired(now: fleet.now.adding(nanoseconds: 2_000_000_000), budget: 10)
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.kept(0) == nil)
    #expect(fleet.kept(1) == "stays")
  }

  @Test("takes messages of any size")
  func sizes() throws {
    let fleet = try Fleet(path: path)
    let sizes = [0, 1, 4096, 65_000, 65_535, 65_536, 65_537, 200_000]
    try fleet.register(sizes.count)
    for (row, size) in sizes.enumerated() {
      fleet.push(RegistrationID(row), String(repeating: "s", count: size))
    }
    try fleet.commit()
    try fleet.restart()
    #expect(sizes.indices.map { fleet.kept(RegistrationID($0))?.utf8.count } == sizes)
  }

  @Test("does not grow when a few registrations get message after message")
  func busy() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(50)
    fleet.push(49, "rests at the old end")
    for round in 0..<2000 {
      for row in RegistrationID.rows(below: 20) { fleet.push(row, "\(round)") }
      try fleet.commit()
    }
    try fleet.restart()
    #expect(RegistrationID.rows(below: 20).allSatisfy { fleet.kept($0) == "1999" })
    #expect(fleet.kept(49) == "rests at the old end")
    #expect(try entries() < 20_000)
  }

  @Test("a segment goes with the last of its entries that counts")
  func outdated() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(2)
    for row in RegistrationID.rows(below: 2) { fleet.push(row, "older") }
    try fleet.commit()
    fleet.push(0, "newer")
    try fleet.commit()
    #expect(try look("SELECT count(*) FROM message_log") == 2)
    fleet.push(1, "newer")
    try fleet.commit()
    #expect(try look("SELECT min(segment) FROM message_log") == 2)
  }

  @Test(
    "a segment has 64 KiB at most where more than one notification is in it", arguments: [(0, 1), (1, 2)])
  func fullSegment(more: Int, segments: Int64) throws {
    let fleet = try Fleet(path: path)
    try fleet.register(3)
    fleet.push(0, "")
    try fleet.commit()
    let head = Int(try look("SELECT length(entries) FROM message_log"))
    for (row, count) in [(1, 1000), (2, 64 * 1024 - 1000 - 2 * head + more)] {
      fleet.push(RegistrationID(row), String(repeating: "s", count: count))
    }
    try fleet.commit()
    #expect(try look("SELECT count(*) FROM message_log WHERE segment > 1") == segments)
    try fleet.restart()
    #expect(fleet.kept(1)?.utf8.count == 1000)
  }

  @Test("all may go away in one turn, however many there are")
  func allGone() throws {
    let fleet = try Fleet(path: path)
    let count = 20_000
    try fleet.register(count)
    for row in RegistrationID.rows(below: count) {
      fleet.push(row, "short", expiration: UInt32(fleet.now.seconds + 1))
    }
    try fleet.commit()
    fleet.broker.deliveries.dropExpired(now: fleet.now.adding(nanoseconds: 2_000_000_000), budget: count)
    try fleet.commit()
    fleet.push(7, "later")
    try fleet.commit()
    try fleet.restart()
    #expect(RegistrationID.rows(below: count).filter { fleet.kept($0) != nil } == [7])
  }

  /// Of registration 0 or 1, with no bytes. Rows without a check are as an earlier version wrote them.
  @Test(
    "entries that can't be are damage: a segment 0 or beyond 2⁶², a registration that there is not",
    arguments: [
      (1, 0, nil), (0, 0, StoreError.Code.damaged), (1, 1, .damaged), (1 << 62, 0, nil),
      (1 << 62 + 1, 0, .damaged),
    ])
  func damage(segment: Int, registration: Int, expected: StoreError.Code?) throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    try fleet.commit()
    let copies = ScratchFolder()
    try copies.copy(from: folder)
    let entry = "0\(registration)000000" + String(repeating: "00", count: 32) + "0a00" + "0100"
    try Raw.run(copies.file("store.db"), "INSERT INTO message_log VALUES (\(segment), x'\(entry)', NULL)")
    var code: StoreError.Code?
    do { _ = try Fleet(path: copies.file("store.db")) } catch let error as StoreError { code = error.code }
    #expect(code == expected)
  }

  @Test("does not grow beyond twice of what counts when all registrations get messages at random")
  func spread() throws {
    var random = SeededChoices(seed: 7)
    let fleet = try Fleet(path: path)
    let count = 10_000
    try fleet.register(count)
    var model: [RegistrationID: String] = [:]
    for turn in 0..<300 {
      for _ in 0..<300 {
        let row = RegistrationID(Int.random(in: 0..<count, using: &random))
        model[row] = "turn \(turn)"
        fleet.push(row, "turn \(turn)")
      }
      try fleet.commit()
    }
    try fleet.restart()
    for row in RegistrationID.rows(below: count) where fleet.kept(row) != model[row] {
      Issue.record("row \(row)")
    }
    #expect(try entries() < count * 2 + 20_000)
  }

  @Test("agrees with a dictionary through any sequence of messages, expiries and restarts", arguments: 1...8)
  func model(_ seed: UInt64) throws {
    var random = SeededChoices(seed: seed)
    let fleet = try Fleet(path: path)
    let count = 30
    try fleet.register(count)
    var model: [RegistrationID: (text: String, until: Int64)] = [:]
    for step in 0..<400 {
      for _ in 0..<Int.random(in: 0..<8, using: &random) {
        let (row, life) = (
          RegistrationID(Int.random(in: 0..<count, using: &random)),
          Int64(1 + Int.random(in: 0..<20, using: &random))
        )
        let text = String(repeating: "x", count: Int.random(in: 0..<3000, using: &random)) + "\(step)"
        let until = fleet.now.seconds + life
        fleet.push(row, text, expiration: UInt32(until))
        model[row] = (text, until)
      }
      fleet.now = fleet.now.adding(nanoseconds: Int64(Int.random(in: 0..<3, using: &random)) * 1_000_000_000)
      fleet.broker.deliveries.dropExpired(now: fleet.now, budget: count)
      model = model.filter { $0.value.until > fleet.now.seconds }
      try fleet.commit()
      if Int.random(in: 0..<40, using: &random) == 0 { try fleet.restart() }
      if Int.random(in: 0..<40, using: &random) == 0 { try fleet.store.checkpointIfIdle() }
      for row in RegistrationID.rows(below: count) where fleet.kept(row) != model[row]?.text {
        Issue.record("row \(row) in step \(step)")
        return
      }
    }
  }

  /// Entries in the log, taken from its size: all of this suite's are small.
  private func entries() throws -> Int64 { try look("SELECT sum(length(entries)) FROM message_log") / 50 }

  /// What a query of one number answers. Looks at a copy, as the store is in use.
  private func look(_ query: String) throws -> Int64 {
    let copies = ScratchFolder()
    try copies.copy(from: folder)
    return try Raw.run(copies.file("store.db"), query)
  }
}
