import Basics
import NATSWire
import Testing

import Zones

let madeAt = "2026-01-02T03:04:05Z"

func record(
  _ sequence: UInt64, epoch: UInt64, _ number: UInt64, by node: String = "a", stream: String = madeAt,
  _ body: ZoneRecord.Body
) -> JetStreamRecord {
  JetStreamRecord(
    sequence: sequence,
    payload: ZoneRecord(epoch: epoch, number: number, node: node, stream: stream, body: body).encoded)
}

@Suite struct SetAsideRecordTests {
  /// A record that was set aside counts for nothing, and what was lost with it is given up; a second gap is damage.
  @Test func readingGoesOnBehindIt() throws {
    var reader = ZoneReader(stream: madeAt, aside: [3])
    _ = try reader.take(record(1, epoch: 1, 0, .epoch))
    _ = try reader.take(record(2, epoch: 1, 1, .piece([1])))
    #expect(try reader.take(record(3, epoch: 1, 1, .changes([9]))) == nil)
    // The piece before belongs to what was lost.
    #expect(try reader.take(record(4, epoch: 1, 4, .changes([2]))) == [2])
    #expect(throws: ZoneLogDamage.self) { try reader.take(record(5, epoch: 1, 6, .changes([3]))) }
    #expect(try reader.take(record(6, epoch: 1, 5, .changes([4]))) == [4])
  }

  /// Of the same epoch there can be nothing but what its leader has written later.
  @Test func nothingGoesBackBehindIt() throws {
    var reader = ZoneReader(stream: madeAt, aside: [3])
    _ = try reader.take(record(1, epoch: 1, 0, .epoch))
    _ = try reader.take(record(2, epoch: 1, 1, .changes([1])))
    _ = try reader.take(record(3, epoch: 1, 2, .changes([9])))
    #expect(throws: ZoneLogDamage.self) { try reader.take(record(4, epoch: 1, 1, .changes([1]))) }
    #expect(throws: ZoneLogDamage.self) { try reader.take(record(5, epoch: 1, 0, .epoch)) }
    #expect(throws: ZoneLogDamage.self) { try reader.take(record(6, epoch: 1, 3, by: "b", .changes([2]))) }
    #expect(try reader.take(record(7, epoch: 1, 3, .changes([2]))) == [2])
  }

  /// What follows it tells whose the zone is, though nothing was left to that node.
  @Test func anEpochMayHaveBegunWithIt() throws {
    var reader = ZoneReader(stream: madeAt, aside: [4])
    _ = try reader.take(record(1, epoch: 1, 0, .epoch))
    _ = try reader.take(record(2, epoch: 1, 1, .piece([1])))
    _ = try reader.take(record(3, epoch: 1, 2, .handover(to: "b")))
    #expect(try reader.take(record(4, epoch: 2, 0, by: "b", .epoch)) == nil)
    #expect(throws: ZoneLogDamage.self) { try reader.take(record(5, epoch: 2, 0, by: "b", .heartbeat)) }
    #expect(try reader.take(record(6, epoch: 2, 1, by: "b", .changes([2]))) == [2])
    #expect(reader.place == ZonePlace(sequence: 6, epoch: 2, number: 1, leader: "b"))
    #expect(throws: ZoneLogDamage.self) { try reader.take(record(7, epoch: 4, 0, by: "c", .epoch)) }
    #expect(try reader.take(record(8, epoch: 3, 0, by: "c", .epoch)) == nil)
  }
}

@Suite struct ZoneRecordTests {
  @Test(
    arguments: [.epoch, .heartbeat, .changes([1, 2, 3]), .changes([]), .piece([9])] as [ZoneRecord.Body])
  func readsWhatItWrites(body: ZoneRecord.Body) {
    let written = ZoneRecord(epoch: 1 << 40, number: 7, node: "node-ä", stream: madeAt, body: body)
    #expect(ZoneRecord(written.encoded) == written)
    // Cut anywhere within its head it is none.
    let head = ZoneRecord(epoch: 1 << 40, number: 7, node: "node-ä", stream: madeAt, body: .epoch).encoded
      .count
    for count in 0..<head { #expect(ZoneRecord(Array(written.encoded.prefix(count))) == nil) }
  }

  /// What is counted on from may not be close to what fits.
  @Test func readsNumbersUpToALimit() {
    let limit: UInt64 = 1 << 62
    for (epoch, number, isRead) in [
      (limit, limit, true), (limit + 1, limit, false), (limit, limit + 1, false),
    ] {
      let written = ZoneRecord(epoch: epoch, number: number, node: "a", stream: madeAt, body: .heartbeat)
      #expect((ZoneRecord(written.encoded) == written) == isRead, "\(epoch) \(number)")
    }
  }

  @Test func hasTheLayoutThatItSays() {
    let record = ZoneRecord(epoch: 2, number: 3, node: "ab", stream: "c", body: .changes([0xff]))
    #expect(
      record.encoded
        == [1, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 3, 2, 0x61, 0x62, 1, 0x63, 0xff])
  }

  /// A version to come says so in its first byte; what is none of ours is told apart from it.
  @Test(arguments: [
    ([2, 3], "newer version of apns-emulator"), ([0x7b, 0x22], "no record"), ([], "no record"),
  ])
  func saysWhatItCantRead(payload: [UInt8], problem: String) {
    var reader = ZoneReader(stream: madeAt)
    let damage = #expect(throws: ZoneLogDamage.self) {
      try reader.take(JetStreamRecord(sequence: 1, payload: payload))
    }
    #expect(damage?.problem.contains(problem) == true, "\(damage?.problem ?? "")")
  }

  /// Whoever reads counts on from them.
  @Test(arguments: [.max, .max - 1, 1 << 62 + 1] as [UInt64])
  func refusesNumbersThatNoLogHasComeTo(number: UInt64) {
    for (epoch, count) in [(number, 0), (1, number)] {
      let written = ZoneRecord(epoch: epoch, number: count, node: "a", stream: "b", body: .heartbeat)
      #expect(ZoneRecord(written.encoded) == nil)
    }
  }

  @Test func refusesOtherVersionsAndKinds() {
    let good = ZoneRecord(epoch: 1, number: 0, node: "a", stream: "b", body: .epoch).encoded
    #expect(ZoneRecord(good) != nil)
    #expect(ZoneRecord([2] + good.dropFirst()) == nil)
    #expect(ZoneRecord([1, 9] + good.dropFirst(2)) == nil)
    #expect(ZoneRecord(good + [0]) == nil)
    var notText = good
    notText[19] = 0xff
    #expect(ZoneRecord(notText) == nil)
  }
}

@Suite struct ZoneReaderTests {
  /// What a reader says of records, `nil` for damage.
  private func read(_ records: [JetStreamRecord], behind place: ZonePlace = ZonePlace()) -> [[UInt8]]? {
    var reader = ZoneReader(stream: madeAt, behind: place)
    return try? records.compactMap { try reader.take($0) }
  }

  private let start = record(1, epoch: 1, 0, .epoch)

  @Test func saysWhatChanges() {
    let log = [
      start, record(2, epoch: 1, 1, .changes([1])), record(3, epoch: 1, 2, .heartbeat),
      record(4, epoch: 1, 3, .changes([2])), record(5, epoch: 2, 0, by: "b", .epoch),
      record(6, epoch: 2, 1, by: "b", .changes([3])),
    ]
    #expect(read(log) == [[1], [2], [3]])
  }

  @Test func putsPiecesTogetherAndForgetsThoseOfALostReign() {
    let whole = [start, record(2, epoch: 1, 1, .piece([1])), record(3, epoch: 1, 2, .piece([2]))]
    #expect(read(whole + [record(4, epoch: 1, 3, .changes([3]))]) == [[1, 2, 3]])
    let cut = [record(4, epoch: 2, 0, by: "b", .epoch), record(5, epoch: 2, 1, by: "b", .changes([4]))]
    #expect(read(whole + cut) == [[4]])
  }

  @Test func goesOnBehindASnapshot() {
    let place = ZonePlace(sequence: 40, epoch: 3, number: 9, leader: "a")
    #expect(read([record(41, epoch: 3, 10, .changes([1]))], behind: place) == [[1]])
    #expect(read([record(41, epoch: 4, 0, by: "b", .epoch)], behind: place) == [])
    #expect(read([record(40, epoch: 3, 10, .changes([1]))], behind: place) == nil)
  }

  @Test(arguments: [
    record(2, epoch: 1, 2, .heartbeat),
    record(2, epoch: 1, 1, by: "b", .heartbeat),
    record(2, epoch: 2, 1, .heartbeat),
    record(2, epoch: 1, 0, .epoch),
    record(2, epoch: 3, 0, .epoch),
    record(2, epoch: 2, 1, .epoch),
    record(2, epoch: 0, 1, .heartbeat),
    record(1, epoch: 1, 1, .heartbeat),
    record(2, epoch: 1, 1, stream: "another", .heartbeat),
    JetStreamRecord(sequence: 2, payload: [1, 2, 3]),
  ])
  func findsWhatNoOwnerHasWritten(next: JetStreamRecord) {
    #expect(read([start]) == [])
    #expect(read([start, next]) == nil)
  }

  /// The greatest place that a snapshot may say is that of the last log: nothing comes behind it.
  @Test func endsWithTheLastNumbers() {
    let last: UInt64 = 1 << 62
    let place = ZonePlace(sequence: last, epoch: last, number: last, leader: "a")
    for next in [
      record(last + 1, epoch: last + 1, 0, by: "b", .epoch),
      record(last + 1, epoch: last, last + 1, .heartbeat),
      record(.max, epoch: .max, 0, .epoch), record(.max, epoch: 0, 0, .epoch),
    ] { #expect(read([next], behind: place) == nil) }
    var lease = ZoneLease(node: "b", stream: madeAt, behind: place, now: Instant(nanoseconds: 0))
    #expect(lease.tick(Instant(nanoseconds: 10_000_000_000)).count == 1)
    #expect(lease.epoch == last)
  }
}
