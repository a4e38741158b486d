import Broker
import Storage

extension Emulator {
  /// The end of a turn: what changed is committed, then devices get their messages, and only then do providers hear
  /// anything and does the log say so (`Sources/ARCHITECTURE.md#promises` 1). Provider output is flushed by the loop
  /// after this.
  ///
  /// After a commit that failed nothing of the turn is claimed anywhere: not to devices, in the log, in the capture or by the
  /// console.
  func endTurn() {
    if failure == nil { makeVisible() }
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
    pushLog.writeNew()
    capture?.turnEnded()
  }

  /// Whether everything that changed is in the store.
  private func commit() -> Bool {
    let changes = broker.takeChanges()
    guard let store, !changes.isEmpty else { return true }
    return guarded { try store.commit(changes, of: broker) }
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
