import Broker
import Platform
import Storage

extension Emulator {
  /// The end of a turn: what changed is committed, then devices get their messages, and only then do providers hear
  /// anything and does the log say so (`Sources/ARCHITECTURE.md#promises` 1). Provider output is flushed by the loop
  /// after this.
  ///
  /// After a commit that failed nothing of the turn is claimed anywhere: not to devices, in the log, in the capture or by the
  /// console.
  ///
  /// A store whose commits complete later has one under way at a time: what that covers waits for it, and the turns that end
  /// meanwhile are grouped into the next.
  func endTurn() {
    if failure == nil, commitEnd == nil {
      if store?.commitsLater == true { beginCommit() } else { makeVisible() }
    }
    logger.flush()
    if courier.devicesMadeProgress {
      courier.devicesMadeProgress = false
      gateway.resumeHeld()
    }
  }

  private func makeVisible() {
    guard commit() else { return }
    courier.flushTouched()
    if broker.storeUnsent(), !commit() { return }
    tell(before: broker.journal.nextId)
  }

  /// What goes to devices is stored with all else, as nothing may leave before.
  private func beginCommit() {
    _ = broker.storeUnsent()
    let changes = broker.takeChanges()
    guard let store, !changes.isEmpty else {
      loop.freeOutput()
      return show(before: broker.journal.nextId)
    }
    let end = broker.journal.nextId
    guarded {
      guard try store.commit(changes, of: broker) == .later else {
        loop.freeOutput()
        return show(before: end)
      }
      commitEnd = end
      loop.holdOutput()
    }
  }

  /// The commit that was under way is complete, or never will be.
  func committed(_ result: Result<Void, any Error>) {
    switch result {
    case .success: commitEnded()
    case .failure(let error):
      commitEnd = nil
      giveUp("the store can't be written: \(error)")
    }
  }

  private func commitEnded() {
    guard let end = commitEnd else { return }
    commitEnd = nil
    loop.releaseOutput()
    show(before: end)
    loop.flushReleased()
  }

  private func show(before end: UInt64) {
    courier.flushTouched()
    tell(before: end)
  }

  /// Log and capture say what is committed.
  private func tell(before end: UInt64) {
    pushLog.writeNew(before: end)
    capture?.turnEnded(before: end)
  }

  /// For the end of the process, and for its beginning: turns until nothing waits for a commit, but not for ever.
  func finishCommits() {
    endTurn()
    let deadline = SystemClock.monotonicNanoseconds() + Self.commitPatience
    while commitEnd != nil, failure == nil {
      guard SystemClock.monotonicNanoseconds() < deadline else {
        return giveUp("the store can't be written: a commit was not complete in time")
      }
      wakeUp.start(afterNanoseconds: Self.commitPatience)
      loop.runTurn()
    }
  }

  /// Whether everything that changed is in the store.
  private func commit() -> Bool {
    let changes = broker.takeChanges()
    guard let store, !changes.isEmpty else { return true }
    return guarded { _ = try store.commit(changes, of: broker) }
  }

  /// Lets the store wait for the disk while nothing else happens.
  func writeBack() {
    guard let store else { return }
    guarded { try store.checkpointIfIdle() }
  }

  @discardableResult
  private func guarded(_ write: () throws -> Void) -> Bool {
    do {
      try write()
      return true
    } catch {
      giveUp("the store can't be written: \(error)")
      return false
    }
  }

  /// Nothing can be promised any more: end without answering anybody.
  private func giveUp(_ sentence: String) {
    guard failure == nil else { return }
    failure = EmulatorError(.storeUnusable, sentence)
    logger.log(.error, sentence)
    capture?.abandonTurn()
    for (_, listener) in listeners {
      listener.stopAccepting()
      for connection in listener.openConnections { connection.abort(sentence, reset: true) }
    }
    console?.abort()
    loop.stop()
  }
}
