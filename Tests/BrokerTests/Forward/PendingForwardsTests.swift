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
}
