import Basics

/// What waits to be handed to one hook, what it has now, and what is tried again when. Pure.
///
///     offered ─→ waiting ─ a place is free ─→ running ─ done ─→ gone
///        └ full: dropped     ↑ its time is there  └─ failed ─→ later, until the tries are used up ─→ failed
package struct HookQueue {
  /// One delivery for the hook.
  package struct Item: Equatable {
    /// Of the notification.
    package var id: UInt64
    package var body: [UInt8]
    /// How often it has failed.
    package var failures = 0
    /// When it may be tried again, in monotonic nanoseconds.
    package var due = Instant.distantPast

    package init(id: UInt64, body: [UInt8]) { (self.id, self.body) = (id, body) }
  }

  /// What is counted of a hook.
  package struct Counts: Equatable {
    package var run: UInt64 = 0
    package var done: UInt64 = 0
    package var retried: UInt64 = 0
    package var failed: UInt64 = 0
    package var dropped: UInt64 = 0

    package init() {}
  }

  /// Most deliveries that wait or run, as a count and in bytes of their documents.
  package static let countLimit = 1000
  package static let byteLimit = 8 << 20
  /// Most at a time: a command may be a whole simulator's worth of work.
  package static let runningLimit = 4
  /// How often one is tried in all.
  package static let tries = 5

  package private(set) var counts = Counts()
  private var waiting: ArraySlice<Item> = []
  /// In the order of their time.
  private var later: [Item] = []
  private var running = 0
  private var bytes = 0

  package init() {}

  /// Waiting, running and to be tried again.
  package var count: Int { waiting.count + later.count + running }
  package var isEmpty: Bool { count == 0 }
  /// Whether one more of the usual size would be taken. What is described for nothing costs the loop its time.
  package var hasRoom: Bool { count < Self.countLimit && bytes < Self.byteLimit }

  /// Takes a delivery, or drops it: what came first was promised first.
  package mutating func offer(_ item: Item) -> Bool {
    guard hasRoom, bytes + item.body.count <= Self.byteLimit else {
      drop()
      return false
    }
    waiting.append(item)
    bytes += item.body.count
    return true
  }

  /// One that could not even be offered.
  package mutating func drop(_ count: Int = 1) { counts.dropped += UInt64(count) }

  /// The next one to run, if there is a place and one whose time is there: those that failed first.
  package mutating func next(now: Instant) -> Item? {
    guard running < Self.runningLimit else { return nil }
    let item: Item
    if let first = later.first, first.due <= now {
      item = later.removeFirst()
    } else if let first = waiting.popFirst() {
      item = first
    } else {
      return nil
    }
    running += 1
    counts.run += 1
    return item
  }

  /// When the next one is due that waits for its time; nil if none does, or there is no place for it.
  package var nextDue: Instant? { running < Self.runningLimit ? later.first?.due : nil }

  /// Whether there is a place, and one that waits for nothing else.
  package var canStart: Bool { running < Self.runningLimit && !waiting.isEmpty }

  package mutating func succeeded(_ item: Item) {
    leave(item)
    counts.done += 1
  }

  /// It went wrong: it is tried again after the wait that `backoff` says, unless that makes no sense or was often enough. Answers
  /// whether it will be.
  package mutating func failed(_ item: Item, isWorthRetrying: Bool, now: Instant, _ backoff: inout Backoff)
    -> Bool
  {
    guard isWorthRetrying, item.failures + 1 < Self.tries else {
      leave(item)
      counts.failed += 1
      return false
    }
    var item = item
    item.failures += 1
    item.due = now.adding(nanoseconds: backoff.wait(after: item.failures))
    running -= 1
    counts.retried += 1
    later.insert(item, at: later.firstIndex { $0.due > item.due } ?? later.count)
    return true
  }

  private mutating func leave(_ item: Item) {
    running -= 1
    bytes -= item.body.count
  }

  /// Drops what does not run; answers how many that were.
  @discardableResult
  package mutating func giveUp() -> Int {
    let lost = waiting.count + later.count
    bytes -= waiting.reduce(0) { $0 + $1.body.count } + later.reduce(0) { $0 + $1.body.count }
    (waiting, later) = ([], [])
    drop(lost)
    return lost
  }
}
