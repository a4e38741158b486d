extension EventLoop {
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
  /// system's readiness can't see them. Each reads once in a turn, whatever else calls for it.
  func continueReading(_ waiting: [TLSConnection]) {
    for connection in waiting { connection.readOnInTurn() }
  }

  /// How long a connection may read in this turn.
  var readShare: Int64 {
    let turn = isQuiet ? readTimes.quietTurn : readTimes.turn
    return max(readTimes.least, (turn - timeRead) / Int64(max(1, busyReaders)))
  }
}
