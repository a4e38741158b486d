import Broker
import Storage

extension Emulator {
  /// The end of a turn: what changed is committed, then devices get their messages, and only then do providers hear
  /// anything and does the log say so (`design.md`, promise 1). Provider output is flushed by the loop after this.
  func endTurn() {
    commit()
    courier.flushTouched()
    if broker.storeUnsent() { commit() }
    pushLog.writeNew()
    capture?.turnEnded()
    logger.flush()
    if courier.devicesMadeProgress {
      courier.devicesMadeProgress = false
      gateway.resumeHeld()
    }
  }

  private func commit() {
    let changes = broker.takeChanges()
    guard let store, !changes.isEmpty else { return }
    guarded { try store.commit(changes, of: broker) }
  }

  /// Lets the store wait for the disk while nothing else happens.
  func writeBack() {
    guard let store else { return }
    guarded { try store.checkpointIfIdle() }
  }

  private func guarded(_ write: () throws -> Void) {
    do { try write() } catch { giveUp("the store can't be written: \(error)") }
  }

  /// Nothing can be promised any more: end without answering anybody.
  private func giveUp(_ sentence: String) {
    guard failure == nil else { return }
    failure = EmulatorError(.storeUnusable, sentence)
    logger.log(.error, sentence)
    for (_, listener) in listeners {
      for connection in listener.openConnections { connection.abort(sentence, reset: true) }
    }
    console?.abort()
    loop.stop()
  }
}
