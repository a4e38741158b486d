import AdviceFeed
import Basics
import Broker
import Courier
import Platform
import Recorder
import Services
import Transport

/// The end of each turn, as a hook of the loop: broadcasts and reports go on, what changed is committed, then devices get their
/// messages, and only then do providers hear anything and do log and capture say so (`Sources/ARCHITECTURE.md#promises` 1).
/// Provider output is flushed by the loop after this.
///
///     changed ─ commit ─ complete ──────────────────────────→ shown
///                  └──── later ─→ under way ─ it completes ─→ shown; the next turn's end commits what has changed meanwhile,
///                                                             or that of a later turn if the store wants a rest
///
/// After a commit that failed nothing of the turn is claimed anywhere: not to devices, in the log, in the capture or by the
/// console.
package final class TurnEnd {
  /// A commit that completes later.
  private struct Commit: Equatable {
    var number: Int
    /// The first notification, by its id, that it does not cover.
    var end: UInt64
  }

  /// How long broadcasts may be handed out in a turn, in nanoseconds: who pushes 50 times a second waits for two turns each time,
  /// and what is handed out is written besides.
  private static let broadcastTime: Int64 = 2_000_000

  /// How long the end of the process waits for one commit, in nanoseconds. Variable so that a test need not wait for it.
  package var commitTimeout: Int64 = 5_000_000_000
  var store: (any BrokerStore)?
  private let loop: EventLoop
  private let broker: Broker
  private let devices: TurnDevices
  private let reading: ReportReading
  private let gateway: Gateway
  private let logger: Logger
  private let pushLog: PushLog
  private let capture: CaptureRecorder?
  private let advice: AdviceService
  /// Hears when the store can't be written any more; nothing is, once anything has failed.
  private let shutdown: Shutdown
  /// The one that is under way.
  private var commit: Commit?
  private var commitCount = 0
  /// The last commit is under way.
  private var isLast = false
  /// What has changed since the last commit waits for more, which is nobody's loss: output is held all the while.
  private var isResting = false
  private lazy var rest = LoopEvent(timerOn: loop) { [unowned self] in isResting = false }
  /// Ends a turn in which nothing happens.
  private lazy var wakeUp = LoopEvent(timerOn: loop) {}
  /// Has a turn follow at once, for broadcasts that are under way and reports that are not read.
  private lazy var nextTurn = LoopEvent(timerOn: loop) {}

  init(
    loop: EventLoop, broker: Broker, store: (any BrokerStore)?, devices: TurnDevices, reading: ReportReading,
    gateway: Gateway, logger: Logger, capture: CaptureRecorder?, advice: AdviceService, shutdown: Shutdown
  ) {
    (self.loop, self.broker, self.store, self.capture) = (loop, broker, store, capture)
    (self.devices, self.reading, self.gateway, self.logger) = (devices, reading, gateway, logger)
    (self.advice, self.shutdown) = (advice, shutdown)
    pushLog = PushLog(broker: broker, logger: logger)
  }

  /// Whether what happened is not yet known to be in the store.
  var isCommitting: Bool { commit != nil }

  /// What happened in the turn is committed and shown; then its lines leave, and whoever was held back for a device goes on.
  package func run() {
    let (sendsMore, readsMore) = (deliverBroadcasts(), reading.readMore())
    if sendsMore || readsMore { nextTurn.start(afterNanoseconds: 0) }
    commitTurn()
    logger.flush()
    guard devices.madeProgress else { return }
    devices.madeProgress = false
    gateway.resumeHeld()
  }

  private func deliverBroadcasts() -> Bool {
    var end: Instant?
    return broker.broadcasts.goOn {
      let now = SystemClock.now()
      let limit = end ?? now.adding(nanoseconds: Self.broadcastTime)
      end = limit
      return now < limit
    }
  }

  private func commitTurn() {
    guard !hasFailed, commit == nil, !isLast, !isResting else { return }
    if store?.commitsLater == true { beginCommit() } else { commitAtOnce() }
  }

  /// For the end of the process, and for its beginning: turns until all that has changed by now is in the store, but not for
  /// ever. That takes the commit that is under way, and the one behind it; of what comes behind that nobody hears.
  func finish() {
    isResting = false
    commitTurn()
    awaitCommit()
    isLast = true
    awaitCommit()
    isLast = false
  }

  /// Lets the store wait for the disk while nothing else happens.
  func writeBack() {
    guard let store else { return }
    guarded { try store.checkpointIfIdle() }
  }

  // MARK: A store whose commits are complete at once

  private func commitAtOnce() {
    guard commitChanges() else { return }
    devices.flush()
    if broker.deliveries.storeUnsent(), !commitChanges() { return }
    pushLog.writeNew(before: broker.journal.nextId)
    capture?.commitBegins()
    capture?.commitEnded()
    advice.turnEnded()
  }

  /// Whether everything that changed is in the store.
  private func commitChanges() -> Bool {
    let changes = broker.turn.takeChanges()
    guard let store, !changes.isEmpty else { return true }
    return guarded { _ = try store.commit(changes, of: broker) { _ in } }
  }

  // MARK: A store whose commits complete later

  /// What goes to devices is stored with all else, as nothing may leave before.
  private func beginCommit() {
    _ = broker.deliveries.storeUnsent()
    let changes = broker.turn.takeChanges()
    let end = broker.journal.nextId
    capture?.commitBegins()
    guarded {
      guard let store, !changes.isEmpty,
        try store.commit(changes, of: broker, ended: { [unowned self] in commitEnded($0) }) == .later
      else {
        loop.freeOutput()
        return show(before: end)
      }
      commitCount += 1
      commit = Commit(number: commitCount, end: end)
      loop.holdOutput()
    }
  }

  /// The commit that was under way is complete, or never will be.
  private func commitEnded(_ result: Result<Void, any Error>) {
    guard let ended = commit else { return }
    commit = nil
    switch result {
    case .success:
      loop.releaseOutput()
      show(before: ended.end)
      loop.flushReleased()
      beginRest()
    case .failure(let error): fail("\(error)")
    }
  }

  private func beginRest() {
    guard let nanoseconds = store?.restAfterCommit, nanoseconds > 0 else { return }
    isResting = true
    rest.start(afterNanoseconds: nanoseconds)
  }

  private func show(before end: UInt64) {
    devices.flush()
    pushLog.writeNew(before: end)
    capture?.commitEnded()
    advice.turnEnded()
  }

  /// Turns until the commit that is under way is complete.
  private func awaitCommit() {
    let awaited = commit
    let deadline = SystemClock.now().adding(nanoseconds: commitTimeout)
    while commit != nil, commit == awaited, !hasFailed {
      let left = deadline.nanoseconds(since: SystemClock.now())
      guard left > 0 else {
        return fail("a commit was not complete within \(Duration.nanoseconds(commitTimeout))")
      }
      wakeUp.start(afterNanoseconds: left)
      loop.runTurn()
    }
  }

  // MARK: Failure

  @discardableResult
  private func guarded(_ write: () throws -> Void) -> Bool {
    do {
      try write()
      return true
    } catch {
      fail("\(error)")
      return false
    }
  }

  private var hasFailed: Bool { shutdown.failure != nil }

  private func fail(_ reason: String) { shutdown.giveUp("the store can't be written: \(reason)") }
}
