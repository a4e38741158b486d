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
  private var giveBack: (Int) -> Void = { _ in }
  private var onEviction: (MemoryEviction) -> Void = { _ in }
  /// What waits for room.
  private var waiting: [() -> Void] = []

  init(_ budget: MemoryBudget) { self.budget = budget }

  /// From now on there is a limit. `giveBack` is asked for so many bytes before anybody has to be evicted, and `onEviction` is told of
  /// each who was.
  func begin(givingBack giveBack: @escaping (Int) -> Void, onEviction: @escaping (MemoryEviction) -> Void) {
    (self.giveBack, self.onEviction) = (giveBack, onEviction)
  }

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
    let holders = sources.flatMap { source in source.holders().map { (name: source.name, holder: $0) } }
    let candidates = holders.map {
      MemoryBudget.Candidate(bytes: $0.holder.heldBytes, idle: $0.holder.idleMark.idle(now))
    }
    let evictions = budget.evictions(candidates)
    for index in evictions {
      let (name, holder) = holders[index]
      let evicted = MemoryEviction(
        listener: name, remoteAddress: holder.remoteAddress, bytes: candidates[index].bytes,
        idle: candidates[index].idle)
      holder.evict()
      budget.countEviction(of: name)
      onEviction(evicted)
    }
    if budget.isExceeded, evictions.isEmpty { budget.noteHelpless() }
  }
}

/// A connection can give memory back by ending.
extension SocketConnection {
  /// Why a connection ended that was evicted.
  public static let evictedReason =
    "memory is short, and this connection has held the most for the longest time"

  /// What a connection costs besides its output and what its owner holds, in bytes: the state of OpenSSL, this object and its
  /// registrations. Measured with 400 idle device connections: 14.7 KiB each; without TLS, with the owner of a console's
  /// connection, 0.8 KiB.
  private var baseBytes: Int { layer.hasTLS ? 15 << 10 : 1 << 10 }

  /// Says how much the owner holds for this connection now, in bytes, besides the output.
  public func hold(_ bytes: Int) {
    if life.phase != .closed { share.set(baseBytes + bytes, in: loop.memory) }
  }

  /// What it holds now, in bytes.
  package var heldBytes: Int { share.bytes + output.capacity }
  /// Bytes that moved so far, in the direction that counts: while output waits, those that left.
  fileprivate var movedBytes: Int { output.isEmpty ? bytesRead &+ bytesWritten : bytesWritten }

  /// Ends in a way that says why where that is possible. Afterwards it may hold no more than the last words to a peer that reads.
  package func evict() {
    let mayStillSpeak = isOpen
    if mayStillSpeak, let handler { handler.evict(self) }
    guard isOpen || !mayStillSpeak || heldBytes > baseBytes + OutputBuffer.chunk else { return }
    // What the system has taken, up to our end, it goes on sending unless it is told not to.
    abort(Self.evictedReason, reset: life.phase != .lingering)
  }
}
