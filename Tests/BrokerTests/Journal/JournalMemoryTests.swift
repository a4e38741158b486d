import Basics
import Testing

import Broker

/// What the history keeps of large notifications, and how it gives memory back.
@Suite("Memory of the journal")
struct JournalMemoryTests {
  private let lab = Lab()
  private var journal: Journal { lab.broker.journal }

  /// A frame of the second command: heads, token and payload; answers its id.
  private func refuseFrame(
    payload count: Int, token: [UInt8] = [UInt8](repeating: 7, count: 32), in other: Lab? = nil
  ) -> UInt64 {
    let lab = other ?? lab
    let frame = [2, 0, 0, 0, 0, 1, 0, 32] + token + [2, 0, 0] + [UInt8](repeating: 0x61, count: count)
    let start = 8
    var submission = Submission(
      interface: .gateway, topic: nil, environment: .sandbox,
      token: frame.span.extracting(start..<start + token.count),
      payload: frame.span.extracting((start + token.count + 3)...))
    submission.plain.frame = frame.span
    return lab.broker.routing.recordRejection(submission, .payloadTooLarge, now: lab.now)
  }

  /// A request with one header field.
  private func refuseRequest(body count: Int) -> UInt64 {
    let (body, fields) = ([UInt8](repeating: 0x62, count: count), [4, 0, 1, 0] + Array("namex".utf8))
    return lab.submission(to: [UInt8](repeating: 7, count: 32), "", topic: nil, interface: .provider) {
      submission in
      var submission = submission
      submission.plain.payload = body.span
      submission.plain.fields = fields.span
      return lab.broker.routing.recordRejection(submission, .payloadTooLarge, now: lab.now)
    }
  }

  /// The payload limit, a token of the greatest length, and what heads and items take.
  private let largestFrame = 2048 + 100 + 64

  @Test("of a refused frame as much is kept as a good one may have", arguments: [65_000, 131_072])
  func frame(count: Int) throws {
    let id = refuseFrame(payload: count)
    let record = try #require(journal[id])
    #expect(record.raw.count == largestFrame)
    #expect(Array(record.presentedToken) == [UInt8](repeating: 7, count: 32))
    #expect(record.payload.count == largestFrame - 43 && Array(record.payload).allSatisfy { $0 == 0x61 })
    #expect(journal.fullSize(id).map { [$0.raw, $0.payload] } == [count + 43, count])
    #expect(journal.heldBytes == largestFrame)
  }

  @Test("of a refused request the beginning of its body and all of its fields")
  func request() throws {
    let id = refuseRequest(body: 5632)
    let record = try #require(journal[id])
    #expect(record.payload.count == 5120 && Array(record.payload).allSatisfy { $0 == 0x62 })
    #expect(record.fields.map(\.name) == ["name"] && record.fields.map(\.value) == ["x"])
    #expect(record.presentedToken.count == 32)
    #expect(journal.fullSize(id).map { [$0.raw, $0.payload] } == [5632, 5632])
    journal.noteFullBody(of: id, bytes: 70_000)
    #expect(journal.fullSize(id).map { [$0.raw, $0.payload] } == [70_000, 70_000])
  }

  @Test("a token that fills the frame is cut, too")
  func token() throws {
    let id = refuseFrame(payload: 10, token: [UInt8](repeating: 9, count: 60_000))
    let record = try #require(journal[id])
    #expect(record.presentedToken.count == largestFrame - 8 && record.payload.isEmpty)
    #expect(journal.fullSize(id)?.payload == 10)
  }

  @Test("what is no larger than a good one, or was accepted, is whole")
  func whole() throws {
    let (row, text) = (try lab.row(), String(repeating: "x", count: 10_000))
    let ids = [refuseFrame(payload: 2048), refuseRequest(body: 5120), lab.push(row, text)]
    #expect(ids.map { journal[$0].map { $0.payload.count } } == [2048, 5120, 10_000])
    #expect(ids.allSatisfy { journal.fullSize($0) == nil })
  }

  @Test("whoever must see everything whole has, before it is cut")
  func drained() {
    let journal = journal
    var seen: [Int] = []
    let reader = journal.add { [unowned journal] ids in
      seen += ids.compactMap { id in journal[id].map { $0.raw.count } }
    }
    _ = refuseFrame(payload: 100)
    _ = refuseFrame(payload: 65_000)
    #expect(seen == [143, 65_043])
    journal.remove(reader)
  }

  @Test("two thousand of 64 KiB take what two thousand good ones take")
  func many() {
    for _ in 0..<2000 { _ = refuseFrame(payload: 65_536) }
    #expect(journal.heldBytes == 2000 * largestFrame)
    #expect(journal.fullSize(1)?.payload == 65_536)
    #expect(journal.fullSize(2000)?.payload == 65_536)
  }

  @Test("sizes are remembered as long as their notifications")
  func sizes() {
    let ids = [refuseFrame(payload: 65_000), refuseFrame(payload: 65_001)]
    journal.forget(before: ids[1])
    #expect(ids.map { journal.fullSize($0)?.payload } == [nil, 65_001])
    journal.clear()
    #expect(journal.fullSize(ids[1]) == nil)
    var options = BrokerOptions()
    options.history = 1
    let small = Lab(options: options)
    let (cut, whole) = (refuseFrame(payload: 65_000, in: small), refuseFrame(payload: 100, in: small))
    #expect(small.broker.journal.fullSize(cut) == nil && small.broker.journal.fullSize(whole) == nil)
  }

  @Test("what else is remembered of a notification leaves the size that it had")
  func sizeWithAnotherDetail() {
    let id = refuseFrame(payload: 65_000)
    journal.attach(NotificationDetail(explanation: "too large"), to: id)
    #expect(journal.detail(id)?.explanation == "too large")
    #expect(journal.fullSize(id).map { [$0.raw, $0.payload] } == [65_043, 65_000])
  }

  @Test("memory is given back from the oldest on, who must see them has, and slots are used again")
  func givenBack() throws {
    var options = BrokerOptions()
    options.history = 8
    let lab = Lab(options: options)
    let (journal, row) = (lab.broker.journal, try lab.row())
    var drains = 0
    _ = journal.add { _ in drains += 1 }
    for _ in 0..<12 { lab.push(row, String(repeating: "x", count: 200)) }
    // A box of 256 bytes each: token and payload have 232.
    #expect(journal.heldBytes == 8 * 256 && journal.firstId == 5 && drains > 0)
    drains = 0
    journal.giveBack(downTo: 8 * 256)
    #expect(journal.firstId == 5 && drains == 0)
    journal.giveBack(downTo: 3 * 256 + 10)
    #expect(journal.heldBytes == 3 * 256 && journal.firstId == 10 && drains == 1)
    #expect(journal[9] == nil && journal[10].map { $0.payload.count } == 200)
    for number in 0..<20 {
      let text = String(repeating: "\(number % 10)", count: 100 + number)
      let id = lab.push(row, text)
      #expect(journal[id].map { Array($0.payload) } == Array(text.utf8))
    }
    #expect(journal.nextId == 33 && journal.firstId == 25)
    journal.giveBack(downTo: 0)
    #expect(journal.heldBytes == 0 && journal.firstId == journal.nextId)
    lab.push(row, "next")
    #expect(
      journal.heldBytes == 128 && journal[journal.nextId - 1].map { $0.payload.text } == "next")
  }

  @Test(
    "a notification takes 128 bytes, or twice as many as often as it needs them; one without bytes takes none",
    arguments: [(0, 0), (1, 128), (128, 128), (129, 256), (256, 256), (257, 512)])
  func boxes(_ bytes: Int, _ expected: Int) {
    _ = lab.submission(to: [], String(repeating: "x", count: bytes), topic: nil) {
      lab.broker.routing.recordRejection($0, .badDeviceToken, now: lab.now)
    }
    #expect(journal.heldBytes == expected)
  }

  @Test("memory of what was forgotten in another way is given back as well")
  func forgotten() throws {
    let row = try lab.row()
    for _ in 0..<10 { lab.push(row, "x") }
    journal.clear()
    #expect(journal.heldBytes == 10 * 128)
    lab.push(row, "y")
    journal.giveBack(downTo: 128)
    #expect(journal.heldBytes == 128 && journal.firstId == 11 && journal[11] != nil)
  }
}
