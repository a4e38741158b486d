import Basics
import PushModel
import Testing

import Broker

@Suite("Notifications that another service is to decide about")
struct PendingForwardsTests {
  private let pending = Lab().broker.pendingForwards

  private func entry(_ id: Int64) -> PendingForwards.Entry {
    .init(
      id: id, frame: [2], topic: Lab.app, environment: .sandbox, apnsID: APNSID(high: 1, low: 2),
      receivedAt: Timestamp(seconds: 1))
  }

  @Test("an id that was given before, or that no run has come to, is not put back")
  func ids() {
    let ids: [Int64] = [0, 1, 1, 1 << 62 + 1, 1 << 62, 1 << 62]
    #expect(ids.map { pending.restore(entry($0)) } == [false, true, false, false, true, false])
    #expect(pending.all.map(\.id) == [1, 1 << 62])
  }

  private func add(_ broker: Broker) -> Int64 {
    broker.pendingForwards.add(
      frame: [2], topic: Lab.app, environment: .sandbox, apnsID: APNSID(high: 1, low: 2),
      receivedAt: Timestamp(seconds: 1))
  }

  @Test("the store hears of what came and what went, once, and of nothing that did both within a turn")
  func changes() {
    let broker = Lab().broker
    let changes = { broker.turn.takeChanges().pendingForwards }
    let (first, brief) = (add(broker), add(broker))
    broker.pendingForwards.remove(brief)
    #expect(changes() == [first] && changes() == [])
    broker.pendingForwards.remove(first)
    broker.pendingForwards.remove(first)
    #expect(changes() == [first] && changes() == [] && broker.pendingForwards.count == 0)
    // What the store has put back it is told of only when it goes.
    let restored = broker.pendingForwards.restore(entry(7))
    #expect(restored && changes() == [])
    broker.pendingForwards.remove(7)
    #expect(changes() == [7])
  }
}
