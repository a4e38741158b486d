import Basics
import CLibevent
import Platform

/// One thread's loop over sockets, timers and signals (libevent). Everything the emulator owns lives on it.
///
/// A *turn* is: wait until something is ready, run the turn-begin hooks, handle all of it, run the turn-end hooks (the store
/// commits there), then write what was queued. State changed in a turn becomes visible to peers only after the hooks
/// (`Sources/ARCHITECTURE.md#promises` 1).
@safe public final class EventLoop {
  let base: OpaquePointer
  /// Where every connection reads to. A read while somebody still looks at what the last one brought goes to memory of its own.
  var scratch = [UInt8](repeating: 0, count: 1 << 16)
  fileprivate var unflushed: [LoopClient] = []
  /// Who reads on in the next turn.
  fileprivate(set) var unread: [LoopClient] = []
  package var readTimes = ReadBudget.Times()
  /// How long connections that used up their share of this turn have read, in nanoseconds.
  var timeRead: Int64 = 0
  /// When the connection that reads now was first seen to; nil before that.
  var readingSince: Instant?
  /// How many connections read on in this turn.
  private(set) var busyReaders = 0
  /// Turns so far, as a count.
  public private(set) var turns = 0
  /// Sockets that became ready in this turn, but for those of busy readers.
  var wakeups = 0
  /// Turns since a socket did, as a count.
  private var quietTurns = 0
  var spareOutput = SpareOutput()
  /// Registrations that the system did not take. Weak, as their owners may let go of them.
  private var failed: [WeakEvent] = []
  private var hasNewFailure = false
  /// For tests: the descriptors that the system is not to watch; that of timers is -1.
  package var refused: Set<Int32> = []
  /// For tests: the system can't start a thread.
  package var refusesThreads = false
  /// Why the loop could not go on; `run()` returns then.
  public private(set) var failure: String?
  /// What peers may cost.
  public let memory = MemoryBudget()
  let relief: MemoryRelief
  private var turnBegin: [() -> Void] = []
  private var turnEnd: [() -> Void] = []
  /// The hooks of this turn's beginning have run.
  private var hasBegun = false
  /// When they ran last, as far as reading knows; nil before the clock was asked in this turn.
  private var lookedAt: Instant?
  /// What was queued waits for a commit that completes later.
  public private(set) var holdsOutput = false
  /// Whose output the commit that is under way covers.
  private var covered: [LoopClient] = []
  private var isRunning = false
  private static let warnings = BackgroundOutput(StandardDescriptors.error)
  /// Once for all loops of the process: libevent would write its warnings to standard error itself, and wait for whoever
  /// reads that.
  private static let takeWarnings: Void = unsafe event_set_log_callback { _, text in
    if let text = unsafe text { EventLoop.warnings.add(line: unsafe "libevent: \(String(cString: text))") }
  }

  /// Makes a loop; nil only if the system has no readiness interface, which no supported system lacks.
  public init?() {
    Self.takeWarnings
    guard let base = unsafe Self.makeBase() else { return nil }
    unsafe self.base = unsafe base
    relief = MemoryRelief(memory)
  }

  /// By libevent's usual clock a timer is up to 4 ms late.
  private static func makeBase() -> OpaquePointer? {
    guard let configuration = unsafe event_config_new() else { return nil }
    defer { unsafe event_config_free(configuration) }
    unsafe event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_PRECISE_TIMER.rawValue))
    return unsafe event_base_new_with_config(configuration)
  }

  deinit {
    unsafe event_base_free(base)
  }

  /// Adds a hook that runs at the beginning of every turn, when what has come is there and nothing of it is handled yet; and again
  /// amid reading that takes long (`ReadBudget.Times.look`).
  public func atTurnBegin(_ hook: @escaping () -> Void) { turnBegin.append(hook) }

  /// Adds a hook that runs at the end of every turn, in the order of adding.
  public func atTurnEnd(_ hook: @escaping () -> Void) { turnEnd.append(hook) }

  /// Sets how much all peers may hold, in bytes, and evicts connections when they hold more; each is told of. First `giveBack`
  /// is asked for as many bytes as are too many, and says to the budget what it has given.
  public func limitMemory(
    to bytes: Int, givingBack giveBack: @escaping (Int) -> Void = { _ in },
    onEviction: @escaping (MemoryEviction) -> Void
  ) {
    memory.limit = bytes
    relief.begin(givingBack: giveBack, onEviction: onEviction)
  }

  /// Looks who moves bytes and who is idle. To be called about once a second.
  public func watchMemory() { relief.look() }

  /// Runs turns until `stop()`.
  public func run() {
    isRunning = true
    while isRunning { runTurn() }
  }

  /// Handles one batch of ready events, waiting for the first if `wait`.
  public func runTurn(wait: Bool = true) {
    let readers = unread
    unread = []
    turns &+= 1
    (busyReaders, timeRead, wakeups, hasBegun, lookedAt) = (readers.count, 0, 0, false, nil)
    let mayWait = wait && !hasNewFailure && readers.isEmpty && !hasOutput && !relief.isUrgent
    let result = unsafe event_base_loop(base, mayWait ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK)
    if result < 0 { (failure, isRunning) = ("the system does not report which sockets are ready", false) }
    quietTurns = wakeups == 0 ? quietTurns + 1 : 0
    begin()
    for reader in readers {
      reader.isQueuedForReading = false
      reader.readOn()
    }
    if !failed.isEmpty { settleFailures() }
    memory.noteTurn()
    if relief.isUrgent { relief.makeRoom() }
    for hook in turnEnd { hook() }
    flushClients()
  }

  /// Something is about to be handled.
  func begin() {
    guard !hasBegun else { return }
    hasBegun = true
    for hook in turnBegin { hook() }
  }

  /// Amid reading, at this time: what the hooks of the beginning saw may be outdated.
  func lookAgain(_ now: Instant) {
    // The clock is first asked behind the first read.
    let before = lookedAt ?? now
    if lookedAt == nil { lookedAt = now }
    guard now.nanoseconds(since: before) >= readTimes.look else { return }
    lookedAt = now
    for hook in turnBegin { hook() }
  }

  /// Whether somebody waits for nothing but the end of a turn to write.
  private var hasOutput: Bool {
    guard holdsOutput else { return !unflushed.isEmpty }
    return unflushed.contains { !$0.waitsForCommits }
  }

  /// Has clients write what was queued in this turn: behind the hooks, so that nothing leaves before the commit.
  package func flushClients() {
    let waiting = unflushed
    unflushed.removeAll(keepingCapacity: true)
    for client in waiting {
      if holdsOutput, client.waitsForCommits {
        unflushed.append(client)
      } else {
        client.isQueuedForFlush = false
      }
      client.flush()
    }
  }

  // MARK: A commit that completes later

  /// For a turn-end hook: what is queued waits until the commit is complete that covers it. Turns go on meanwhile; what they
  /// queue waits for the commit after that.
  ///
  ///     free ─ hold ─→ held ─ release: the covered part may leave ─→ held ─ hold: the next commit covers what came since
  ///       ↑                                                           └─ free: there was nothing to commit
  ///       └───────────────────────────────────────────────────────────────┘
  public func holdOutput() {
    holdsOutput = true
    covered = unflushed.filter(\.waitsForCommits)
    unflushed.removeAll(where: \.waitsForCommits)
    for client in covered {
      client.isQueuedForFlush = false
      client.output.cover()
    }
  }

  /// The commit is complete: what it covers may leave.
  public func releaseOutput() {
    for client in covered where client.waitsForCommits {
      client.output.uncover(hasMore: client.isQueuedForFlush)
    }
  }

  /// Has clients write what was released.
  public func flushReleased() {
    let released = covered
    covered = []
    for client in released { client.flush() }
  }

  /// Nothing waits for a commit any more.
  public func freeOutput() { holdsOutput = false }

  @inline(__always)
  func refuses(_ descriptor: Int32) -> Bool { !refused.isEmpty && refused.contains(descriptor) }

  /// Whether only busy readers have had anything to say for a while.
  var isQuiet: Bool { quietTurns >= ReadBudget.turnsUntilQuiet }

  func remember(failed event: LoopEvent) {
    failed.append(WeakEvent(event: event))
    hasNewFailure = true
  }

  private func settleFailures() {
    let failures = failed
    (failed, hasNewFailure) = ([], false)
    failed += failures.filter { $0.event?.settleFailure() ?? false }
  }

  private struct WeakEvent {
    weak var event: LoopEvent?
  }

  /// Ends `run()` after the present turn.
  public func stop() {
    isRunning = false
    // It can fail only outside of a turn, and then there is nothing to break off.
    _ = unsafe event_base_loopbreak(base)
  }
}

/// Somebody with work for the loop's turns. A class and no protocol, so that both calls of a turn stay cheap.
public class LoopClient {
  final let loop: EventLoop
  fileprivate(set) final var isQueuedForFlush = false
  fileprivate(set) final var isQueuedForReading = false

  /// What it has to say. Of what waits for a commit, the loop says when it may leave.
  final var output = OutputQueue()

  /// What it says must not leave before its turn is committed: so it is for a server. A client may be who carries the commit.
  public final var waitsForCommits = true {
    didSet {
      guard waitsForCommits != oldValue else { return }
      if waitsForCommits { holdBack() } else { letGo() }
    }
  }

  init(loop: EventLoop) { self.loop = loop }

  /// Has `flush` called at the end of this turn. To be called before output is added.
  final func queueFlush() {
    guard !isQueuedForFlush else { return }
    isQueuedForFlush = true
    loop.unflushed.append(self)
    holdBack()
  }

  /// What is queued from here on is of a turn that no commit covers yet.
  private func holdBack() {
    if loop.holdsOutput, waitsForCommits, isQueuedForFlush { output.hold() }
  }

  /// What is queued waits for no commit any more.
  private func letGo() {
    guard output.isGated else { return }
    output.openGate()
    queueFlush()
  }

  /// Has `readOn` called in the next turn: for who stopped at its budget, as its bytes may sit in the TLS layer, where the
  /// system's readiness can't see them. Each reads once in a turn, whatever else calls for it.
  final func queueReading() {
    guard !isQueuedForReading else { return }
    isQueuedForReading = true
    loop.unread.append(self)
  }

  /// Writes what was queued, as far as it may leave.
  func flush() {}
  /// Reads on.
  func readOn() {}
}
