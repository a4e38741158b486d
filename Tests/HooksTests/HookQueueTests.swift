import Basics
import Testing

import Hooks

@Suite("What waits for a hook")
final class HookQueueTests {
  private var queue = HookQueue()
  private var backoff = Backoff(first: 100, longest: 1000, seed: 1)

  private func offer(_ id: UInt64, bytes: Int = 1) -> Bool {
    queue.offer(HookQueue.Item(id: id, body: [UInt8](repeating: 0, count: bytes)))
  }

  private func counts(
    run: UInt64, done: UInt64 = 0, retried: UInt64 = 0, failed: UInt64 = 0
  ) -> HookQueue.Counts {
    var counts = HookQueue.Counts()
    (counts.run, counts.done, counts.retried, counts.failed) = (run, done, retried, failed)
    return counts
  }

  private func next(now: Int64) -> HookQueue.Item? {
    queue.next(now: Instant(nanoseconds: now))
  }

  private func failed(_ item: HookQueue.Item, isWorthRetrying: Bool, now: Int64) -> Bool {
    queue.failed(item, isWorthRetrying: isWorthRetrying, now: Instant(nanoseconds: now), &backoff)
  }

  private func giveUp() -> Int { queue.giveUp() }

  @Test("deliveries run in their order, a few at a time")
  func order() throws {
    let ids = (1...UInt64(HookQueue.runningLimit + 2)).map { $0 }
    for id in ids { #expect(offer(id)) }
    var running: [HookQueue.Item] = []
    while let next = self.next(now: 0) { running.append(next) }
    #expect(running.map(\.id) == ids.dropLast(2))
    queue.succeeded(running[1])
    #expect(next(now: 0)?.id == ids[ids.count - 2])
    #expect(next(now: 0) == nil)
    #expect(queue.count == ids.count - 1)
    #expect(queue.counts == counts(run: UInt64(ids.count - 1), done: 1))
  }

  @Test("what fails is tried again when its time is there, before what is new, and not for ever")
  func retries() throws {
    #expect(offer(1) && offer(2))
    var (now, seen): (Int64, [UInt64]) = (0, [])
    for round in 1...HookQueue.tries {
      let next = try #require(self.next(now: now))
      #expect(next.id == 1 && next.failures == round - 1)
      let isTriedAgain = failed(next, isWorthRetrying: true, now: now)
      #expect(isTriedAgain == (round < HookQueue.tries))
      if let due = queue.nextDue?.nanoseconds {
        #expect(due > now)
        // Nobody waits for it.
        if round == 1 { seen = [self.next(now: now)?.id ?? 0] }
        now = due
      }
    }
    #expect(seen == [2] && queue.nextDue == nil && queue.count == 1)
    #expect(queue.counts == counts(run: 6, retried: 4, failed: 1))
  }

  @Test("what can't go well is not tried again")
  func hopeless() throws {
    #expect(offer(1))
    let next = try #require(self.next(now: 0))
    #expect(!failed(next, isWorthRetrying: false, now: 0))
    #expect(queue.isEmpty && queue.counts.failed == 1)
  }

  @Test("a full queue drops what is new, by count and by bytes, and has room again when something has left")
  func full() throws {
    for id in 0..<UInt64(HookQueue.countLimit) { #expect(offer(id)) }
    #expect(!queue.hasRoom && !offer(9999))
    let first = try #require(next(now: 0))
    #expect(!offer(9999), "what runs still takes its place")
    queue.succeeded(first)
    #expect(offer(9999) && queue.counts.dropped == 2)
    queue = HookQueue()
    let half = HookQueue.byteLimit / 2
    #expect(offer(1, bytes: half) && !offer(2, bytes: half + 1))
    #expect(offer(3, bytes: half) && !queue.hasRoom)
    let large = try #require(next(now: 0))
    queue.succeeded(large)
    #expect(offer(4, bytes: half))
  }

  @Test("giving up forgets what waits, not what runs")
  func givingUp() throws {
    for id in 1...UInt64(HookQueue.runningLimit + 3) { #expect(offer(id)) }
    var running: [HookQueue.Item] = []
    while let next = self.next(now: 0) { running.append(next) }
    _ = failed(running[0], isWorthRetrying: true, now: 0)
    #expect(giveUp() == 4 && queue.count == HookQueue.runningLimit - 1)
    #expect(queue.counts.dropped == 4)
  }
}

@Suite("What a hook may be")
struct HookTargetTests {
  @Test("what begins like a URL must be one; all else is a command")
  func kinds() {
    #expect(HookTarget("cat >> seen") == .command("cat >> seen"))
    guard case .url(let url)? = HookTarget("https://example.com/x?y") else {
      Issue.record("no URL")
      return
    }
    #expect(url.isSecure && url.server.description == "example.com:443" && url.target == "/x?y")
    for text in [
      "", " ", "http://", "https://a b/", "http://u:p@h/", "http://h:0/", "http://h/#f", "HTTP://h:x/",
    ] {
      #expect(HookTarget(text) == nil, "\(text)")
    }
  }

  @Test("the log shows neither path nor arguments, where secrets are")
  func label() {
    #expect(HookTarget("https://hooks.example.com:8443/T0/SECRET")?.label == "https://hooks.example.com:8443")
    #expect(HookTarget("  curl -H 'Authorization: SECRET' x")?.label == "curl")
  }

  @Test(
    "an answer says whether another try may help",
    arguments: [
      (200, nil), (204, nil), (301, false), (404, false), (408, true), (429, true), (500, true), (503, true),
    ]
      as [(Int, Bool?)])
  func answers(status: Int, retries: Bool?) {
    switch HookOutcome(status: status) {
    case .done: #expect(retries == nil)
    case .failed(let sentence, let isWorthRetrying):
      #expect(retries == isWorthRetrying && sentence.contains("\(status)"))
    }
  }
}
