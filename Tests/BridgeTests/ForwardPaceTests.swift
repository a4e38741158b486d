import Basics
import Testing

import Bridge

@Suite("When the other service is asked again")
struct ForwardPaceTests {
  private static let first: ClosedRange<Int64> = 250_000_000...500_000_000
  private static let second: ClosedRange<Int64> = 500_000_000...1_000_000_000

  @Test("answers of one pause count once; pauses in a row grow, and success makes the next short")
  func pauses() {
    var pace = ForwardPace(seed: 1)
    #expect(!pace.isPaused(1))
    let wait = pace.pause(now: 1) ?? 0
    #expect(Self.first.contains(wait))
    #expect(pace.isPaused(Instant(nanoseconds: wait)) && !pace.isPaused(Instant(nanoseconds: wait + 1)))
    #expect(pace.pause(now: Instant(nanoseconds: wait)) == nil)
    let longer = pace.pause(now: Instant(nanoseconds: wait + 1)) ?? 0
    #expect(Self.second.contains(longer))
    pace.noteSuccess()
    let short = pace.pause(now: Instant(nanoseconds: wait + longer + 1)) ?? 0
    #expect(Self.first.contains(short))
  }

  @Test("one that failed waits longer each time, and never less than the pause")
  func retries() {
    var pace = ForwardPace(seed: 1)
    #expect(Self.first.contains(pace.retry(after: 1, now: 0).nanoseconds))
    #expect(Self.second.contains(pace.retry(after: 2, now: 0).nanoseconds))
    let now: Int64 = 10_000_000_000
    _ = pace.pause(now: Instant(nanoseconds: now - 1))
    let long = pace.pause(now: Instant(nanoseconds: 2 * now)) ?? 0
    #expect(pace.retry(after: 1, now: Instant(nanoseconds: now)) == Instant(nanoseconds: 2 * now + long))
  }

  @Test("the queue is looked at when the pause is over, or when what waits is due after it")
  func nextLook() {
    var pace = ForwardPace(seed: 1)
    var queue = ForwardQueue(limit: 10)
    #expect(pace.nextLook(at: queue, now: 0) == nil)
    _ = queue.add(.sample(1))
    #expect(pace.nextLook(at: queue, now: 0) == nil, "what is ready waits for an answer or room")
    let wait = pace.pause(now: 0) ?? 0
    #expect(pace.nextLook(at: queue, now: 0) == Instant(nanoseconds: wait))
    _ = queue.next(now: 0)
    queue.retry(1, at: Instant(nanoseconds: wait - 1))
    #expect(pace.nextLook(at: queue, now: 0) == Instant(nanoseconds: wait))
    queue = ForwardQueue(limit: 10)
    _ = queue.add(.sample(2))
    _ = queue.next(now: 0)
    queue.retry(2, at: Instant(nanoseconds: wait + 1))
    #expect(pace.nextLook(at: queue, now: 0) == Instant(nanoseconds: wait + 1))
  }
}
