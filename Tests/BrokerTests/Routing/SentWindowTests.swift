import PushModel
import Testing

@testable import Broker

@Suite("The window of unacknowledged messages")
struct SentWindowTests {
  private func window(_ ids: [UInt64]) -> SentWindow {
    var window = SentWindow()
    for id in ids { window.append(id, Int32(truncatingIfNeeded: id % 100)) }
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

  @Test("gives up the messages of some rows and keeps the others in order")
  func takeAll() {
    var window = window([1, 2, 3, 4, 5])
    _ = window.take(messageId: 2)
    #expect(window.takeAll { $0.isMultiple(of: 2) == false }.map(\.id) == [1, 3, 5])
    #expect(window.count == 1)
    #expect(window.take(messageId: 4)?.id == 4)
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
