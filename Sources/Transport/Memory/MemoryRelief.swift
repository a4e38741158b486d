import Basics
import Platform

/// Since when a connection has moved nothing. Looked at once a second, so that moving bytes costs nothing for it.
public struct IdleMark {
  private var moved = 0
  private var since: Instant

  public init(now: Instant) { since = now }

  public mutating func look(moved: Int, now: Instant) {
    guard moved != self.moved else { return }
    (self.moved, since) = (moved, now)
  }

  /// In nanoseconds.
  public func idle(_ now: Instant) -> Int64 { now.nanoseconds(since: since) }
}

/// One who was evicted, for the log.
public struct MemoryEviction {
  public let listener: String
  public let remoteAddress: SocketAddress
  /// What it held, in bytes.
  public let bytes: Int
  /// How long it had moved nothing, in nanoseconds.
  public let idle: Int64
}

/// Evicts connections of a loop when its memory budget is used up.
final class MemoryRelief {
  private struct Source {
    let name: String
    let holders: () -> [SocketConnection]
  }

  private let budget: MemoryBudget
  private var sources: [Source] = []
  /// Asked for so many bytes before anybody has to be evicted.
  var giveBack: (Int) -> Void = { _ in }
  /// Told of each who was evicted.
  var onEviction: ((MemoryEviction) -> Void)?
  /// What waits for room.
  private var waiting: [() -> Void] = []

  init(_ budget: MemoryBudget) { self.budget = budget }

  /// Adds connections that may be evicted, of a listener of this name. `holders` must not keep it alive.
  func add(_ name: String, _ holders: @escaping () -> [SocketConnection]) {
    sources.append(Source(name: name, holders: holders))
  }

  /// Looks at everybody's progress, and evicts the idle if memory is getting short.
  func look() {
    let now = SystemClock.now()
    for source in sources {
      for holder in source.holders() { holder.idleMark.look(moved: holder.movedBytes, now: now) }
    }
    budget.lookAgain()
    if budget.isStrained { relieve(now) }
  }

  // MARK: In each turn

  /// Whether there is something to do before the loop may wait.
  var isUrgent: Bool { budget.needsRelief || !waiting.isEmpty && !budget.isExceeded }

  /// Runs before the hooks at the turn's end, so that what ends here is committed in the same turn.
  func makeRoom() {
    if budget.needsRelief { relieve(SystemClock.now()) }
    guard !waiting.isEmpty, !budget.isExceeded else { return }
    let ready = waiting
    waiting = []
    for goOn in ready { goOn() }
  }

  /// Calls `goOn` once there is room.
  func wait(_ goOn: @escaping () -> Void) { waiting.append(goOn) }

  private func relieve(_ now: Instant) {
    giveBack(budget.excess)
    var holders: [(source: Int, holder: SocketConnection)] = []
    for (index, source) in sources.enumerated() { holders += source.holders().map { (index, $0) } }
    let candidates = holders.map {
      MemoryBudget.Candidate(bytes: $0.holder.heldBytes, idle: $0.holder.idleMark.idle(now))
    }
    let evictions = budget.evictions(candidates)
    for index in evictions {
      let (source, holder) = holders[index]
      let name = sources[source].name
      let evicted = MemoryEviction(
        listener: name, remoteAddress: holder.remoteAddress, bytes: candidates[index].bytes,
        idle: candidates[index].idle)
      holder.evict()
      budget.countEviction(of: name)
      onEviction?(evicted)
    }
    if budget.isExceeded, evictions.isEmpty { budget.noteHelpless() }
  }
}
