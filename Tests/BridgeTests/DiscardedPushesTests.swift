import Basics
import Testing

import Bridge

@Suite("Pushes that a provider takes for thrown away")
struct DiscardedPushesTests {
  private let minute: Int64 = 60_000_000_000

  @Test("the first that looks like one is it, once, whatever its expiration")
  func once() {
    var pushes = DiscardedPushes()
    pushes.remember(.sample(1, expiration: 5), isAccepted: true, now: 0)
    #expect(pushes.take(like: .sample(9, expiration: 6), now: 0) == .accepted(1))
    #expect(pushes.take(like: .sample(10), now: 0) == nil)
    #expect(pushes.count == 0)
  }

  @Test("another text, token, priority or topic is another push")
  func others() {
    var pushes = DiscardedPushes()
    pushes.remember(.sample(1), isAccepted: true, now: 0)
    #expect(pushes.take(like: .sample(2, token: 2), now: 0) == nil)
    #expect(pushes.take(like: .sample(2, text: "Ho"), now: 0) == nil)
    var other = ForwardPush.sample(2)
    other.priority = .conserving
    #expect(pushes.take(like: other, now: 0) == nil)
    other = .sample(2, topicName: "com.example.other")
    #expect(pushes.take(like: other, now: 0) == nil)
    other = .sample(2)
    other.environment = .production
    #expect(pushes.take(like: other, now: 0) == nil)
    #expect(pushes.count == 1)
  }

  @Test("of two that look alike each is found once, the older first")
  func alike() {
    var pushes = DiscardedPushes()
    pushes.remember(.sample(1), isAccepted: false, now: 0)
    pushes.remember(.sample(2), isAccepted: true, now: 0)
    #expect(pushes.take(like: .sample(3), now: 0) == .underWay(1))
    #expect(pushes.take(like: .sample(4), now: 0) == .accepted(2))
    #expect(pushes.take(like: .sample(5), now: 0) == nil)
  }

  @Test("an answer that comes later is taken into account, and so is a failure")
  func answers() {
    var pushes = DiscardedPushes()
    pushes.remember(.sample(1), isAccepted: false, now: 0)
    pushes.remember(.sample(1), isAccepted: true, now: 1)
    #expect(pushes.count == 1)
    #expect(pushes.take(like: .sample(2), now: 1) == .accepted(1))
    pushes.remember(.sample(3), isAccepted: false, now: 2)
    pushes.forget(3)
    #expect(pushes.take(like: .sample(4), now: 2) == nil)
  }

  @Test("after ten minutes an equal push is a new one")
  func time() {
    var pushes = DiscardedPushes()
    pushes.remember(.sample(1), isAccepted: true, now: 0)
    pushes.remember(.sample(2, token: 2), isAccepted: true, now: Instant(nanoseconds: 5 * minute))
    #expect(pushes.take(like: .sample(3), now: Instant(nanoseconds: 10 * minute)) == nil)
    #expect(pushes.take(like: .sample(4, token: 2), now: Instant(nanoseconds: 10 * minute)) == .accepted(2))
  }

  @Test("one that is forgotten and remembered again comes behind those that came since")
  func again() {
    var pushes = DiscardedPushes()
    pushes.remember(.sample(1), isAccepted: false, now: 0)
    pushes.remember(.sample(2), isAccepted: false, now: 0)
    pushes.forget(1)
    pushes.remember(.sample(1), isAccepted: true, now: 0)
    #expect(pushes.take(like: .sample(3), now: 0) == .underWay(2))
    #expect(pushes.take(like: .sample(4), now: 0) == .accepted(1))
    #expect(pushes.count == 0)
  }

  @Test("what was forgotten leaves room for others")
  func room() {
    var pushes = DiscardedPushes()
    let half = UInt64(DiscardedPushes.limit) / 2
    for id in 1...2 * half { pushes.remember(.sample(id, text: "\(id)"), isAccepted: true, now: 0) }
    for id in half + 1...2 * half { pushes.forget(id) }
    for id in 2 * half + 1..<3 * half {
      pushes.remember(.sample(id, text: "\(id)"), isAccepted: true, now: 0)
    }
    #expect(pushes.count == DiscardedPushes.limit - 1)
    #expect(pushes.take(like: .sample(0, text: "1"), now: 0) == .accepted(1))
  }

  @Test("it remembers a limited number, the newest")
  func limit() {
    var pushes = DiscardedPushes()
    let count = UInt64(DiscardedPushes.limit) + 100
    for id in 1...count {
      pushes.remember(.sample(id, text: "\(id)"), isAccepted: true, now: Instant(nanoseconds: Int64(id)))
    }
    #expect(pushes.count <= DiscardedPushes.limit)
    #expect(pushes.take(like: .sample(0, text: "1"), now: Instant(nanoseconds: Int64(count))) == nil)
    #expect(
      pushes.take(like: .sample(0, text: "\(count)"), now: Instant(nanoseconds: Int64(count)))
        == .accepted(count))
  }
}
