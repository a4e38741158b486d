import Basics
import Testing

import Bridge

@Suite("The queue of forwarded pushes")
struct ForwardQueueTests {
  private func queue(_ ids: UInt64..., limit: Int = 10) -> ForwardQueue {
    var queue = ForwardQueue(limit: limit)
    for id in ids { #expect(queue.add(.sample(id)) == true) }
    return queue
  }

  @Test("pushes go out in order of arrival, each once, and count until they are settled")
  func order() {
    var queue = queue(1, 2, 3)
    #expect([queue.next(now: 0)?.id, queue.next(now: 0)?.id] == [1, 2])
    #expect((queue.count, queue.underWayCount) == (3, 2))
    #expect(queue.settle(1)?.id == 1)
    #expect(queue.settle(1) == nil, "an answer counts once")
    #expect(queue.settle(3) == nil, "it has not been sent")
    #expect((queue.count, queue.underWayCount) == (2, 1))
    #expect(queue.next(now: 0)?.id == 3)
    #expect(queue.next(now: 0) == nil)
    #expect(!queue.hasReady(now: .distantFuture))
  }

  @Test("it takes no more than its limit, whether they wait or are on their way")
  func limit() {
    var queue = queue(1, 2, limit: 2)
    #expect(queue.isFull)
    _ = queue.next(now: 0)
    #expect(queue.add(.sample(3)) == false)
    _ = queue.settle(1)
    #expect(queue.add(.sample(3)) == true)
  }

  @Test("those from before a restart go one at a time for each token, and count while they wait")
  func restored() {
    var queue = ForwardQueue(limit: 2)
    let pushes = [ForwardPush.sample(1), .sample(2), .sample(3, token: 2)]
    for push in pushes { queue.restore(push) }
    #expect(queue.count == 3 && queue.isFull)
    #expect([queue.next(now: 0)?.id, queue.next(now: 0)?.id] == [1, 3])
    #expect(queue.next(now: 0) == nil)
    #expect(!hasRoom(&queue, 3), "it is full, whatever the token")
    for push in [pushes[0], pushes[2]] {
      _ = queue.settle(push.id)
      queue.restoredEnded(push)
    }
    #expect(!hasRoom(&queue, 1) && hasRoom(&queue, 2))
    #expect(queue.next(now: 0)?.id == 2)
    _ = queue.settle(2)
    queue.restoredEnded(pushes[1])
    #expect(hasRoom(&queue, 1) && queue.count == 0)
  }

  private func hasRoom(_ queue: inout ForwardQueue, _ token: UInt8, of waiter: Int = 1) -> Bool {
    queue.hasRoom(for: [UInt8](repeating: token, count: 32).span, of: waiter)
  }

  @Test("who is turned away may come back when there is room, or one from before a restart has ended")
  func turnedAway() {
    var queue = ForwardQueue(limit: 2)
    let old = ForwardPush.sample(1)
    queue.restore(old)
    #expect(!hasRoom(&queue, 1, of: 8) && hasRoom(&queue, 2, of: 9))
    #expect(queue.takeTurnedAway().isEmpty, "the old one is still there")
    #expect(queue.add(.sample(2, token: 2)) && !hasRoom(&queue, 2, of: 9) && !hasRoom(&queue, 3, of: 7))
    #expect(queue.takeTurnedAway().isEmpty, "it is full")
    _ = queue.next(now: 0)
    _ = queue.settle(1)
    #expect(queue.takeTurnedAway() == [7, 9])
    queue.restoredEnded(old)
    #expect(queue.takeTurnedAway() == [8])
    #expect(queue.takeTurnedAway().isEmpty, "each is told once")
  }

  @Test("one that is put back takes its old place and counts as not tried")
  func putBack() {
    var queue = queue(1, 2, 3)
    for _ in 0..<3 { _ = queue.next(now: 0) }
    queue.putBack(2)
    queue.putBack(1)
    queue.putBack(1)
    let pushes = [queue.next(now: 0), queue.next(now: 0)]
    #expect(pushes.map { $0?.id } == [1, 2])
    #expect(pushes.map { $0?.attempts } == [1, 1])
  }

  @Test("one that is retried waits for its moment, then goes before younger ones")
  func retry() {
    var queue = queue(1, 2, 3)
    for _ in 0..<2 { _ = queue.next(now: 0) }
    queue.retry(1, at: 100)
    queue.retry(2, at: 50)
    #expect(queue.nextMoment == 50)
    #expect(queue.next(now: 49)?.id == 3)
    #expect(queue.next(now: 49) == nil)
    #expect(queue.next(now: 50)?.id == 2)
    #expect(queue.nextMoment == 100)
    #expect(!queue.hasReady(now: 99))
    #expect(queue.add(.sample(4)) == true)
    let first = queue.next(now: 100)
    #expect((first?.id, first?.attempts) == (1, 2))
    #expect(queue.nextMoment == nil)
  }

  @Test("what waits can be taken out by connection; what is on its way can't")
  func removeWaiting() {
    var queue = ForwardQueue(limit: 10)
    for id in 1...6 { _ = queue.add(.sample(UInt64(id), connection: id % 2)) }
    for _ in 0..<3 { _ = queue.next(now: 0) }
    queue.retry(3, at: 100)
    let removed = queue.removeWaiting { $0.connection == 1 }
    #expect(removed.map(\.id) == [3, 5])
    #expect(queue.underWayPushes.map(\.id) == [1, 2])
    #expect(queue.nextMoment == nil)
    #expect([queue.next(now: 200)?.id, queue.next(now: 200)?.id] == [4, 6])
    #expect(queue.next(now: 200) == nil)
  }

  @Test("what is remembered of a push can be changed while it is there")
  func update() {
    var queue = queue(1)
    queue.update(1) { $0.tokenNumber += 2 }
    queue.update(7) { $0.tokenNumber += 1 }
    #expect(queue[1]?.tokenNumber == 2)
    #expect(queue[7] == nil)
  }
}
