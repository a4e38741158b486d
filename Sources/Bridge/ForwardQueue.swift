import Basics

/// Notifications that wait to be forwarded or are on their way, in order of arrival. Pure: moments are nanoseconds of a clock
/// that never jumps.
///
///     added ─→ ready ─ next ─→ on its way ─ settled ─→ out
///                ↑                 ├─ put back: it never counted ─→ ready
///                └── its time ─ delayed ←─ retried
package struct ForwardQueue {
  /// Most notifications, as a count.
  let limit: Int
  private var pushes: [UInt64: ForwardPush] = [:]
  /// Ids, ascending.
  private var ready: [UInt64] = []
  /// By moment, descending: the last is due first.
  private var delayed: [(at: Instant, id: UInt64)] = []
  private var underWay: Set<UInt64> = []
  /// Those from before a restart that wait for others of their token.
  private var restored = RestoredPushes()
  /// Who was turned away, by their numbers: as it was full, and as their next push must not overtake one from before a restart.
  private var turnedAway: Set<Int> = []
  private var turnedAwayBehindRestored: Set<Int> = []

  package init(limit: Int) { self.limit = max(1, limit) }

  package var count: Int { pushes.count + restored.count }
  package var underWayCount: Int { underWay.count }
  package var isFull: Bool { count >= limit }
  /// When the next delayed one is due; nil if none is.
  package var nextMoment: Instant? { delayed.last?.at }

  /// Whether one for the token may come: there is room, and none from before a restart for it that it would overtake. Who is turned away is among `takeTurnedAway` when it may.
  package mutating func hasRoom(for token: Span<UInt8>, of waiter: Int) -> Bool {
    if isFull {
      turnedAway.insert(waiter)
    } else if restored.holds(token) {
      turnedAwayBehindRestored.insert(waiter)
    } else {
      return true
    }
    return false
  }

  /// Those who may come back now, in order; they may be turned away again.
  package mutating func takeTurnedAway() -> [Int] {
    guard !isFull else { return [] }
    defer { turnedAway = [] }
    return turnedAway.sorted()
  }

  /// Takes a notification; false if there is no room.
  package mutating func add(_ push: ForwardPush) -> Bool {
    guard !isFull else { return false }
    insert(push)
    return true
  }

  /// Takes one from before a restart, whether there is room or not.
  package mutating func restore(_ push: ForwardPush) {
    if let first = restored.add(push) { insert(first) }
  }

  /// One from before a restart has ended: the next of its token may follow.
  package mutating func restoredEnded(_ push: ForwardPush) {
    if let next = restored.next(after: push) { insert(next) }
    turnedAway.formUnion(turnedAwayBehindRestored)
    turnedAwayBehindRestored = []
  }

  /// The ids under which those of a connection are kept.
  func kept(of connection: Int) -> [Int64] {
    pushes.values.filter { $0.connection == connection }.map(\.kept)
  }

  /// The next one to be sent, which is on its way then.
  package mutating func next(now: Instant) -> ForwardPush? {
    while let due = delayed.last, due.at <= now {
      delayed.removeLast()
      makeReady(due.id)
    }
    guard !ready.isEmpty else { return nil }
    let id = ready.removeFirst()
    pushes[id]?.attempts += 1
    underWay.insert(id)
    return pushes[id]
  }

  /// Those on their way, oldest first.
  package var underWayPushes: [ForwardPush] { underWay.sorted().compactMap { pushes[$0] } }

  /// One that waits or is on its way.
  package subscript(id: UInt64) -> ForwardPush? { pushes[id] }

  /// Changes what is remembered of one.
  package mutating func update(_ id: UInt64, _ change: (inout ForwardPush) -> Void) {
    guard var push = pushes[id] else { return }
    change(&push)
    pushes[id] = push
  }

  /// Whether `next` would answer one.
  package func hasReady(now: Instant) -> Bool { !ready.isEmpty || delayed.last.map { $0.at <= now } ?? false }

  /// It is done; answers it if it was on its way.
  package mutating func settle(_ id: UInt64) -> ForwardPush? {
    underWay.remove(id) == nil ? nil : pushes.removeValue(forKey: id)
  }

  /// The other service has not looked at it: it goes to its old place and counts as not tried.
  package mutating func putBack(_ id: UInt64) {
    guard underWay.remove(id) != nil else { return }
    pushes[id]?.attempts -= 1
    makeReady(id)
  }

  /// It is to be tried again, not before a moment.
  package mutating func retry(_ id: UInt64, at moment: Instant) {
    guard underWay.remove(id) != nil else { return }
    let index = delayed.firstIndex { $0.at < moment } ?? delayed.count
    delayed.insert((moment, id), at: index)
  }

  /// Takes out those that wait and of which `condition` holds, oldest first.
  package mutating func removeWaiting(where condition: (ForwardPush) -> Bool) -> [ForwardPush] {
    let removed = (ready + delayed.map(\.id)).compactMap { pushes[$0] }.filter(condition)
    guard !removed.isEmpty else { return [] }
    for push in removed { pushes[push.id] = nil }
    ready.removeAll { pushes[$0] == nil }
    delayed.removeAll { pushes[$0.id] == nil }
    return removed.sorted { $0.id < $1.id }
  }

  private mutating func insert(_ push: ForwardPush) {
    pushes[push.id] = push
    makeReady(push.id)
  }

  private mutating func makeReady(_ id: UInt64) {
    guard let last = ready.last, last > id else { return ready.append(id) }
    let index = ready.firstIndex { $0 > id } ?? ready.count
    ready.insert(id, at: index)
  }
}

/// Pushes from before a restart. Their connections are gone, and with them the windows that kept two of one token from
/// overtaking each other: here they go one at a time for each token.
private struct RestoredPushes {
  private var behind: [[UInt8]: ArraySlice<ForwardPush>] = [:]

  /// Those that wait for others of their token, as a count.
  private(set) var count = 0

  /// Answers the push if it may begin at once.
  mutating func add(_ push: ForwardPush) -> ForwardPush? {
    guard behind[push.token] != nil else {
      behind[push.token] = []
      return push
    }
    behind[push.token]?.append(push)
    count += 1
    return nil
  }

  /// One has ended; answers the next of its token.
  mutating func next(after push: ForwardPush) -> ForwardPush? {
    guard let next = behind[push.token]?.popFirst() else {
      behind[push.token] = nil
      return nil
    }
    count -= 1
    return next
  }

  /// Whether any for the token have not ended.
  func holds(_ token: Span<UInt8>) -> Bool { !behind.isEmpty && behind[Array(token)] != nil }
}
