import Testing

import Advice

@Suite struct BoundsTests {
  private static let many = 100_000

  @Test func `A table forgets what came first`() {
    var table = BoundedTable<Int, Int>(limit: 4096)
    for key in 0..<Self.many { table.set(key, key) }
    #expect(table.count == 4096)
    #expect(table[Self.many - 4097] == nil)
    #expect(table[Self.many - 4096] == Self.many - 4096)
    table.set(Self.many - 4096, 1)
    #expect(table.count == 4096)
    #expect(table[Self.many - 4096] == 1)
  }

  @Test func `However many providers come, the newest 256 are known`() {
    let play = ProviderPlay()
    for number in 0..<3000 {
      let connection = play.connect(credential: "team \(number)")
      play.push(on: connection) { $0.pushType = nil }
      play.wait(0.001)
      play.end(connection, pushes: 1)
    }
    let findings = play.adviser.findings()
    #expect(findings.count == 256)
    #expect(findings.allSatisfy { $0.provider.credential.dropFirst(5) >= "2744" })
  }

  @Test func `More open connections than are remembered are not watched, and do no harm`() {
    let play = ProviderPlay()
    for _ in 0..<Self.many { play.push(on: play.connect(), token: 1) { $0.pushType = nil } }
    #expect(play.found(.noPushType)?.count == 1024)
    #expect(play.adviser.pushes == UInt64(Self.many))
  }

  @Test func `Of a hundred thousand lost pushes all are counted, and what comes again is taken off`() {
    let play = ProviderPlay()
    let old = play.connect(.gateway)
    play.errorPacket(on: old, discarding: 1...Self.many)
    play.end(old, pushes: Self.many)
    let new = play.connect(.gateway)
    for token in 1...1000 { play.push(on: new, .gateway, token: token) }
    play.adviser.nothingMoreComes(play.moment)
    #expect(
      play.found(.lostAfterError)?.sentence
        == "99,000 of 100,000 frames that were discarded after an error did not come again.")
  }

  @Test func `A hundred thousand refused pushes push the oldest out`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for token in 0..<Self.many {
      play.push(on: connection, token: token, refused: .unregistered)
      play.wait(0.001)
    }
    play.push(on: connection, token: 0, refused: .unregistered)
    #expect(play.rules == [])
    play.push(on: connection, token: Self.many - 1, refused: .unregistered)
    play.wait(1)
    play.push(on: connection, token: Self.many - 1, refused: .unregistered)
    #expect(play.found(.pushesToGoneToken)?.count == 1)
  }

  @Test func `Faults, examples and kinds of payload problems stay few`() {
    let play = ProviderPlay()
    let connection = play.connect()
    for number in 0..<200 {
      play.push(on: connection, token: 1, payload: number, refused: .unregistered, fault: "rule \(number)")
      play.wait(1)
      play.adviser.sawPayloadProblem(
        PayloadProblem(kind: "kind \(number)", severity: .note, sentence: "wrong", remedy: "Mend it."),
        push: 1, on: connection, at: play.moment)
    }
    #expect(play.found(.pushesToGoneToken)?.underFaults.count == 8)
    #expect(play.found(.pushesToGoneToken)?.examples.count == 3)
    #expect(play.adviser.findings().count { $0.rule == .payload } == 16)
  }

  @Test func `Numbers at their ends trap nothing`() {
    let play = ProviderPlay()
    let connection = play.connect(.gateway)
    play.happens(.errorPacket(status: 8, identifier: .max, fault: nil), on: connection)
    for count in [Int.max, Int.max, Int.max, 0, -1] {
      play.happens(.discardedUnseen(count: count), on: connection)
    }
    play.happens(.tokenNearItsEnd(number: 1, age: .max), on: connection)
    play.adviser.passed(.max)
    play.push(on: connection, .gateway)
    play.end(connection, pushes: .max, streams: 1, limit: .max)
    play.adviser.nothingMoreComes(play.moment)
    #expect(play.found(.lostAfterError) != nil)
    #expect(play.adviser.findings().allSatisfy { !$0.sentence.isEmpty })
  }
}
