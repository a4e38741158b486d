import Basics
import PushModel
import Testing

import Broker

/// Those who must see all notifications: a capture, and who looks at what providers do.
@Suite("Readers of the journal")
struct JournalReaderTests {
  /// Ids in the order in which a reader saw them.
  private final class Seen {
    var ids: [UInt64] = []
    var looks = 0
  }

  private static func lab(history: Int) -> Lab {
    var options = BrokerOptions()
    options.history = history
    return Lab(options: options)
  }

  private static func add(_ seen: Seen, to journal: Journal) -> JournalReader {
    journal.add { [unowned journal] ids in
      seen.looks += 1
      seen.ids += ids.compactMap { journal[$0]?.id }
    }
  }

  @Test(
    "each sees every notification once, in order, however small the history is", arguments: [1, 2, 7, 1000])
  func every(history: Int) throws {
    let lab = Self.lab(history: history)
    let (journal, row) = (lab.broker.journal, try lab.row())
    let (first, second) = (Seen(), Seen())
    let readers = [Self.add(first, to: journal), Self.add(second, to: journal)]
    for number in 0..<3000 {
      lab.push(row, "\(number)")
      if number % 100 == 50 { journal.look(readers[0]) }
    }
    for reader in readers { journal.look(reader) }
    #expect(first.ids == Array(1...3000) && second.ids == Array(1...3000))
    #expect(readers.allSatisfy { $0.nextId == 3001 })
  }

  @Test("512 may be unseen, and no more")
  func due() throws {
    let lab = Self.lab(history: 10_000)
    let (row, seen) = (try lab.row(), Seen())
    let reader = Self.add(seen, to: lab.broker.journal)
    for _ in 0..<512 { lab.push(row, "x") }
    #expect(seen.looks == 0)
    lab.push(row, "x")
    #expect(seen.looks == 1 && seen.ids.count == 512)
    // The 513th is unseen.
    for _ in 0..<511 { lab.push(row, "x") }
    #expect(seen.looks == 1)
    lab.push(row, "x")
    #expect(seen.looks == 2 && seen.ids.count == 1024)
    lab.broker.journal.remove(reader)
  }

  @Test("one that was removed is waited for no more")
  func removed() throws {
    let lab = Self.lab(history: 10_000)
    let (journal, row, seen) = (lab.broker.journal, try lab.row(), Seen())
    let gone = Self.add(Seen(), to: journal)
    lab.push(row, "x")
    let reader = Self.add(seen, to: journal)
    journal.remove(gone)
    for _ in 0..<512 { lab.push(row, "x") }
    #expect(seen.looks == 0)
    lab.push(row, "x")
    #expect(seen.looks == 1 && seen.ids.count == 512)
    journal.remove(reader)
  }

  @Test("one that was added later sees what comes from then on; one that was removed sees nothing more")
  func comesAndGoes() throws {
    let lab = Self.lab(history: 8)
    let (journal, row, seen) = (lab.broker.journal, try lab.row(), Seen())
    lab.push(row, "before")
    let reader = Self.add(seen, to: journal)
    lab.push(row, "meanwhile")
    journal.look(reader)
    journal.remove(reader)
    for _ in 0..<20 { lab.push(row, "after") }
    #expect(seen.ids == [2])
  }

  @Test("what is passed over is not seen later")
  func passes() throws {
    let lab = Self.lab(history: 8)
    let (journal, row, seen) = (lab.broker.journal, try lab.row(), Seen())
    let reader = Self.add(seen, to: journal)
    lab.push(row, "never")
    journal.pass(reader)
    lab.push(row, "seen")
    journal.look(reader)
    #expect(seen.ids == [2])
  }

  @Test("all have seen what a reset forgets")
  func cleared() throws {
    let lab = Self.lab(history: 100)
    let (journal, row) = (lab.broker.journal, try lab.row())
    let (first, second) = (Seen(), Seen())
    let readers = [Self.add(first, to: journal), Self.add(second, to: journal)]
    for _ in 0..<3 { lab.push(row, "x") }
    journal.clear()
    for reader in readers { journal.look(reader) }
    #expect(first.ids == [1, 2, 3] && second.ids == [1, 2, 3])
  }
}

/// What is told of a push in a bit each.
@Suite("Marks of pushes")
struct PushMarksTests {
  private let lab = Lab()

  /// The marks of an HTTP push to a known token.
  private func marks(
    _ type: PushType?, expiration: UInt32? = nil, priority: Priority = .immediate, payload: Int = 20
  ) throws -> PushMarks {
    let row = try lab.row()
    let token = lab.broker.registry[row].token.bytes
    let text = String(repeating: "x", count: payload)
    let id = lab.submission(
      to: token, text, topic: try lab.topic(), interface: .provider, expiration: expiration
    ) { submission in
      var submission = submission
      (submission.plain.pushType, submission.plain.priority) = (type, priority)
      return lab.broker.routing.submit(submission, now: lab.now).id
    }
    return try #require(lab.broker.journal[id]).marks
  }

  /// The id of an accepted frame.
  private func frame(command: UInt8, expiration: UInt32?, payload: Int = 20) throws -> UInt64 {
    let row = try lab.row()
    let text = String(repeating: "x", count: payload)
    return lab.submission(
      to: lab.broker.registry[row].token.bytes, text, topic: try lab.topic(), expiration: expiration
    ) { submission in
      var submission = submission
      submission.plain.command = command
      return lab.broker.routing.submit(submission, now: lab.now).id
    }
  }

  private func frameMarks(command: UInt8, expiration: UInt32?, payload: Int = 20) throws -> PushMarks {
    let id = try frame(command: command, expiration: expiration, payload: payload)
    return try #require(lab.broker.journal[id]).marks
  }

  @Test("a missing push type is told from an alert, though both are alerts")
  func pushType() throws {
    #expect(try marks(.alert) == .saysPushType)
    #expect(try marks(nil) == .remarkable)
    let ids = lab.broker.journal.firstId..<lab.broker.journal.nextId
    #expect(ids.map { lab.broker.journal[$0]?.pushType } == [.alert, .alert])
  }

  @Test("what a provider might do better is remarkable, and what is well is not")
  func requests() throws {
    #expect(try marks(.background, priority: .conserving) == .saysPushType)
    #expect(try marks(.alert, expiration: 4_000_000_000) == .saysPushType)
    #expect(try marks(.alert, payload: 3891) == .saysPushType)
    for marks in [
      try marks(.background), try marks(.alert, expiration: 0), try marks(.alert, payload: 3892),
    ] { #expect(marks == [.saysPushType, .remarkable]) }
  }

  @Test("of frames the oldest command, an expiration of 0 and a long payload are remarkable")
  func frames() throws {
    #expect(try frameMarks(command: 2, expiration: 4_000_000_000) == [])
    #expect(try frameMarks(command: 1, expiration: 4_000_000_000, payload: 1945) == [])
    #expect(try frameMarks(command: 0, expiration: nil) == .remarkable)
    #expect(try frameMarks(command: 1, expiration: 0) == .remarkable)
    #expect(try frameMarks(command: 2, expiration: 4_000_000_000, payload: 1946) == .remarkable)
  }

  @Test("a rejected one is remarkable, one with a fault too, and the newest such is known")
  func others() throws {
    let journal = lab.broker.journal
    let accepted = try frame(command: 2, expiration: 4_000_000_000)
    #expect(journal[accepted]?.marks == [] && journal.lastMarked == 0)
    let rejected = lab.submission(to: [1, 2], "x", topic: nil) {
      lab.broker.routing.recordRejection($0, .badDeviceToken, now: lab.now)
    }
    #expect(journal[rejected]?.marks == .remarkable && journal.lastMarked == rejected)
    let fault = InjectedFault(name: "half", effect: [:], isAnswered: false)
    journal.attach(NotificationDetail(fault: fault), to: accepted)
    #expect(journal[accepted]?.marks.contains(.remarkable) == true && journal.lastMarked == rejected)
  }

  @Test("one that somebody else decides about is marked as such")
  func elsewhere() throws {
    let id = lab.submission(to: [1, 2], "x", topic: nil, expiration: 4_000_000_000) {
      var push = $0.plain
      push.command = 2
      return lab.broker.history.beginElsewhere(push, nil, now: lab.now)
    }
    #expect(lab.broker.journal[id]?.marks == .elsewhere && lab.broker.journal.lastMarked == id)
  }
}
