extension EventLoop {
  /// Most bytes one connection may read in a turn before others get theirs; what is left comes in the next turn.
  /// Large, because one store transaction is paid per turn.
  static let readBudget = 4 << 20

  /// Flushes what was queued in this turn. Runs after the turn-end hooks, so that nothing leaves before the commit.
  func flushConnections() {
    let waiting = unflushed
    unflushed.removeAll(keepingCapacity: true)
    for connection in waiting { connection.flush() }
    let consoles = unflushedHTTP
    unflushedHTTP.removeAll(keepingCapacity: true)
    for connection in consoles { connection.flush() }
  }

  /// Goes on with connections that stopped reading at their budget: their bytes sit in the TLS layer, where the
  /// system's readiness can't see them.
  func continueReading() {
    let waiting = unread
    unread.removeAll(keepingCapacity: true)
    for connection in waiting { connection.readReady() }
  }
}
