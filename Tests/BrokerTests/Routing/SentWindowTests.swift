import Basics
import PushModel
import Testing

import Broker

@Suite("The window of unacknowledged messages")
struct SentWindowTests {
  private func window(_ ids: [UInt64]) -> SentWindow {
    var window = SentWindow()
    for id in ids { window.append(id, RegistrationID(Int(id % 100))) }
    return window
  }

  @Test("finds messages in any order, each once")
  func anyOrder() {
    var window = window([10, 11, 12, 13])
    #expect([12, 10, 13, 12, 11, 10].map { window.take(messageId: $0)?.id } == [12, 10, 13, nil, 11, nil])
    #expect(window.count == 0)
  }

  @Test("knows messages by the low half of their id")
  func lowHalf() {
    var window = window([0x7_0000_0005])
    #expect(window.take(messageId: 5)?.id == 0x7_0000_0005)
  }

  @Test("goes on after it was emptied")
  func reused() {
    var window = window([1, 2])
    _ = window.take(messageId: 1)
    _ = window.take(messageId: 2)
    window.append(3, 3)
    #expect(window.take(messageId: 3)?.registration == 3)
    #expect(window.take(messageId: 1)?.id == nil)
  }

  @Test(
    "keeps the memory of a busy connection, and not of one that got a single message",
    arguments: [(1, false), (2, true)])
  func memory(_ count: UInt64, _ keepsSome: Bool) {
    var window = window(Array(1...count))
    for id in 1...UInt32(count) { _ = window.take(messageId: id) }
    #expect((window.memory > 0) == keepsSome)
  }

  @Test("names each message once as not settled yet, whatever was acknowledged meanwhile")
  func unsettled() {
    var window = window(Array(0..<10))
    #expect(window.hasUnsettled)
    #expect(window.takeUnsettled() == (0..<10).map { RegistrationID($0) })
    #expect(!window.hasUnsettled && window.takeUnsettled().isEmpty)
    window.append(10, 10)
    for id in [0, 1, 5] as [UInt32] { _ = window.take(messageId: id) }
    #expect(window.takeUnsettled() == [10])
    // So many that places before them are given up.
    for id in 11...5000 as ClosedRange<UInt64> { window.append(id, RegistrationID(Int(id))) }
    for id in 2...3000 as ClosedRange<UInt32> { _ = window.take(messageId: id) }
    #expect(window.takeUnsettled() == (3001...5000).map { RegistrationID($0) })
    #expect(window.takeUnsettled().isEmpty)
  }

  @Test("gives up the messages of some rows and keeps the others in order")
  func takeAll() {
    var window = window([1, 2, 3, 4, 5])
    _ = window.take(messageId: 2)
    #expect(window.takeAll { $0.index.isMultiple(of: 2) == false }.map(\.id) == [1, 3, 5])
    #expect(window.count == 1)
    #expect(window.take(messageId: 4)?.id == 4)
  }

  @Test("costs no more steps for ids that are not there, or come in the wrong order, than it has messages")
  func steps() {
    let count = 8192
    var window = window(Array(1...UInt64(count)))
    for id in 1...50_000 as ClosedRange<UInt32> {
      if window.take(messageId: 1_000_000 + id) != nil { Issue.record("found \(id)") }
    }
    #expect(window.steps <= count)
    for id in (2...UInt32(count)).reversed() where window.take(messageId: id)?.id != UInt64(id) {
      Issue.record("lost \(id)")
    }
    #expect(window.count == 1)
    // Closing the gaps costs as much again, and half, and half of that.
    #expect(window.steps <= 4 * count)
  }

  @Test("looks at nothing else while messages are acknowledged in order")
  func stepsInOrder() {
    var window = window(Array(1...5000))
    for id in 1...5000 as ClosedRange<UInt32> { _ = window.take(messageId: id) }
    #expect(window.steps == 0 && window.count == 0)
  }

  @Test("costs a bounded number of steps for each message that comes, whatever is acknowledged between")
  func stepsWhileRefilled() {
    var window = window(Array(1...4000))
    for id in 4001...60_000 as ClosedRange<UInt64> {
      window.append(id, 1)
      _ = window.take(messageId: .max)
      // The oldest, then the newest, in turn.
      let next = id.isMultiple(of: 2) ? UInt32(id) : UInt32(window.pending.first { _ in true }?.id ?? 0)
      if window.take(messageId: next) == nil { Issue.record("lost \(next)") }
    }
    #expect(window.count == 4000)
    #expect(window.steps <= 4 * 60_000)
    #expect(window.memory <= 8 * 4000)
  }

  @Test("finds a message that was sent again under its old id")
  func sentAgain() {
    var window = window([1, 2, 3])
    #expect(window.take(messageId: 3)?.id == 3)
    window.append(3, 7)
    #expect(window.take(messageId: 3)?.registration == 7)
    #expect(window.take(messageId: 1)?.id == 1)
    window.append(1, 8)
    #expect([2, 1].map { window.take(messageId: $0)?.registration } == [2, 8])
    #expect(window.count == 0)
  }

  @Test("agrees with a list through thousands of steps", arguments: 1...5)
  func model(_ seed: UInt64) {
    var random = SeededChoices(seed: seed)
    var (window, model): (SentWindow, [UInt64]) = (SentWindow(), [])
    for id in 1...5000 as ClosedRange<UInt64> {
      window.append(id, 0)
      model.append(id)
      // Mostly the oldest, as devices do; often enough any other.
      while !model.isEmpty, Int.random(in: 0..<10, using: &random) < 6 {
        let index =
          Int.random(in: 0..<4, using: &random) == 0 ? Int.random(in: 0..<model.count, using: &random) : 0
        let taken = model.remove(at: index)
        if window.take(messageId: UInt32(taken))?.id != taken { Issue.record("lost \(taken)") }
      }
      if window.count != model.count { Issue.record("count at \(id)") }
    }
    #expect(window.takeAll { _ in true }.map(\.id) == model)
    #expect(window.memory <= 4 * model.count + 1000)
  }
}
