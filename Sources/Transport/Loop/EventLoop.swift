import CLibevent
import Platform

/// One thread's loop over sockets, timers and signals (libevent). Everything the emulator owns lives on it.
///
/// A *turn* is: wait until something is ready, handle all of it, run the turn-end hooks (the store commits there),
/// then write what was queued. State changed in a turn becomes visible to peers only after the hooks
/// (`Sources/ARCHITECTURE.md#promises` 1).
public final class EventLoop {
  let base: OpaquePointer
  /// Where every connection reads to; valid until the next read.
  let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
  fileprivate var unflushed: [LoopClient] = []
  /// Who reads on in the next turn.
  fileprivate(set) var unread: [LoopClient] = []
  var readTimes = ReadBudget.Times()
  /// How long connections that used up their share of this turn have read, in nanoseconds.
  var timeRead: Int64 = 0
  /// When the connection that reads now was first seen to, in monotonic nanoseconds; 0 before that.
  var readingSince: Int64 = 0
  /// How many connections read on in this turn.
  private var busyReaders = 0
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
  /// For tests: what the system is not to take, by descriptor.
  var refusal: ((Int32) -> Bool)?
  /// Why the loop could not go on; `run()` returns then.
  public private(set) var failure: String?
  /// What peers may cost.
  public let memory = MemoryBudget()
  let relief: MemoryRelief
  private var turnEnd: [() -> Void] = []
  /// What was queued waits for a commit that completes later.
  public private(set) var holdsOutput = false
  /// Whose output the commit that is under way covers.
  private var covered: [LoopClient] = []
  private var isRunning = false
  private static let warnings = BackgroundOutput(STDERR_FILENO)
  /// Once for all loops of the process: libevent would write its warnings to standard error itself, and wait for whoever
  /// reads that.
  private static let takeWarnings: Void = event_set_log_callback { _, text in
    if let text { EventLoop.warnings.add(line: "libevent: \(String(cString: text))") }
  }

  /// Makes a loop; nil only if the system has no readiness interface, which no supported system lacks.
  public init?() {
    Self.takeWarnings
    guard let base = Self.makeBase() else { return nil }
    self.base = base
    relief = MemoryRelief(memory)
  }

  /// By libevent's usual clock a timer is up to 4 ms late.
  private static func makeBase() -> OpaquePointer? {
    guard let configuration = event_config_new() else { return nil }
    defer { event_config_free(configuration) }
    event_config_set_flag(configuration, Int32(EVENT_BASE_FLAG_PRECISE_TIMER.rawValue))
    return event_base_new_with_config(configuration)
  }

  deinit {
    scratch.deallocate()
    event_base_free(base)
  }

  /// Adds a hook that runs at the end of every turn, in the order of adding.
  public func atTurnEnd(_ hook: @escaping () -> Void) { turnEnd.append(hook) }

  /// Sets how much all peers may hold, in bytes, and evicts connections when they hold more; each is told of. First `giveBack`
  /// is asked for as many bytes as are too many, and says to the budget what it has given.
  public func limitMemory(
    to bytes: Int, givingBack giveBack: @escaping (Int) -> Void = { _ in },
    onEviction: @escaping (MemoryEviction) -> Void
  ) {
    memory.limit = bytes
    (relief.giveBack, relief.onEviction) = (giveBack, onEviction)
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
    (busyReaders, timeRead, wakeups) = (readers.count, 0, 0)
    let mayWait = wait && !hasNewFailure && readers.isEmpty && !hasOutput && !relief.isUrgent
    let result = event_base_loop(base, mayWait ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK)
    if result < 0 { (failure, isRunning) = ("the system does not tell which sockets are ready", false) }
    quietTurns = wakeups == 0 ? quietTurns + 1 : 0
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

  /// Whether somebody waits for nothing but the end of a turn to write.
  private var hasOutput: Bool {
    guard holdsOutput else { return !unflushed.isEmpty }
    return unflushed.contains { !$0.waitsForCommits }
  }

  /// Has clients write what was queued in this turn: behind the hooks, so that nothing leaves before the commit.
  func flushClients() {
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
      client.cover()
    }
  }

  /// The commit is complete: what it covers may leave.
  public func releaseOutput() {
    for client in covered { client.release() }
  }

  /// Has clients write what was released.
  public func flushReleased() {
    let released = covered
    covered = []
    for client in released { client.flush() }
  }

  /// Nothing waits for a commit any more.
  public func freeOutput() { holdsOutput = false }

  /// How long a connection may read in this turn.
  var readShare: Int64 {
    let turn = isQuiet ? readTimes.quietTurn : readTimes.turn
    return max(readTimes.least, (turn - timeRead) / Int64(max(1, busyReaders)))
  }

  @inline(__always)
  func refuses(_ descriptor: Int32) -> Bool { refusal.map { $0(descriptor) } ?? false }

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
    _ = event_base_loopbreak(base)
  }
}

/// Somebody with work for the loop's turns. A class and no protocol, so that both calls of a turn stay cheap.
public class LoopClient {
  final let loop: EventLoop
  fileprivate(set) final var isQueuedForFlush = false
  fileprivate(set) final var isQueuedForReading = false

  /// What it says must not leave before its turn is committed: so it is for a server. A client may be who carries the commit.
  public final var waitsForCommits = true {
    didSet {
      guard waitsForCommits != oldValue else { return }
      if waitsForCommits { beganWaiting() } else { stoppedWaiting() }
    }
  }

  init(loop: EventLoop) { self.loop = loop }

  /// Has `flush` called at the end of this turn. To be called before output is added.
  final func queueFlush() {
    guard !isQueuedForFlush else { return }
    isQueuedForFlush = true
    loop.unflushed.append(self)
    if loop.holdsOutput { holdBack() }
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
  /// What is queued from here on is of a turn that no commit covers yet.
  func holdBack() {}
  /// A commit is under way that covers all that is queued.
  func cover() {}
  /// What was covered may leave.
  func release() {}
  /// What is queued waits for no commit any more.
  func stoppedWaiting() {}
  /// What is queued from here on waits, and nothing before.
  func beganWaiting() {}
  /// Reads on.
  func readOn() {}
}

extension EventLoop {
  /// How often it is looked though nothing happens, in nanoseconds.
  private static let waitStep: Int64 = 50_000_000

  /// Runs turns until something is so: for what has to be waited for before the loop runs for good, or without it, as in a command.
  ///
  /// - Parameters:
  ///   - isSo: asked before the first turn and after each, some twenty times a second at least; what it throws ends the wait.
  ///   - nanoseconds: the longest wait, of which turns that take long are a part.
  /// - Returns: whether it is so; false if the time is over.
  public func turn(until isSo: () throws -> Bool, within nanoseconds: Int64) rethrows -> Bool {
    let deadline = SystemClock.now().adding(nanoseconds: nanoseconds)
    // Ends a turn in which nothing happens.
    let wakeUp = LoopEvent(timerOn: self) {}
    defer { wakeUp.cancel() }
    while try !isSo() {
      guard SystemClock.now() < deadline else { return false }
      wakeUp.start(afterNanoseconds: Self.waitStep)
      runTurn()
    }
    return true
  }
}

/// How much one connection may read in a turn before others get theirs; what is left comes in the next turn.
///
/// Bytes alone are no measure of work: 16 KiB may hold one request or 3000 empty frames. So the time counts as well, from the
/// first read on. A clock tells it after that, if there is more to read, and then after every few reads; and whoever handles
/// what was read asks for it amid that, behind each frame that may be costly (`SocketConnection.hasReadEnough`).
struct ReadBudget {
  /// Most bytes. Large, because one store transaction is paid per turn.
  static let byteLimit = 4 << 20
  /// Reads for which the clock is not asked, unless one is longer than a TLS record.
  static let readsPerLook = 4
  static let recordSize = 16 << 10

  /// For how long all connections together may read in a turn, in nanoseconds, and how much of it one has at least. Who
  /// wants to hear from the emulator waits two turns behind a busy client, the one that it comes in and the next: whoever
  /// sends 50 pushes a second, each behind the answer to the last, must have it within 20 ms, or falls ever further behind. What
  /// a turn reads is also written in it, so reading may take half of the 10 ms. A commit is paid as often, and so a turn is
  /// longer while nobody else has come for some turns: measured, that takes a tenth off the cost of a frame.
  struct Times {
    var turn: Int64 = 5_000_000
    var quietTurn: Int64 = 80_000_000
    var least: Int64 = 1_000_000
  }

  /// So many turns without anybody else make a loop quiet: some 160 ms.
  static let turnsUntilQuiet = 32

  private var bytesLeft = byteLimit
  private var reads = 0

  /// Takes note of a read that was handled; answers whether the connection has had its share of this turn.
  @inline(__always)
  mutating func isSpent(_ count: Int, on loop: EventLoop) -> Bool {
    bytesLeft -= count
    reads += 1
    let isLook = reads % Self.readsPerLook == 1 || count > Self.recordSize
    return bytesLeft <= 0 || isLook && loop.hasReadEnough()
  }
}

extension EventLoop {
  /// Whether the connection that reads now has had its share of this turn's time. The first to ask has the time begin.
  @inline(never)
  func hasReadEnough() -> Bool {
    let now = SystemClock.monotonicNanoseconds()
    guard readingSince > 0 else {
      readingSince = now
      return false
    }
    guard now - readingSince >= readShare else { return false }
    timeRead += now - readingSince
    readingSince = now
    return true
  }
}
