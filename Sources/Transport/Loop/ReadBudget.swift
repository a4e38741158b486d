import Basics
import Platform

/// How much one connection may read in a turn before others get theirs; what is left comes in the next turn.
///
/// Bytes alone are no measure of work: 16 KiB may hold one request or 3000 empty frames. So the time counts as well, from the
/// first read on. A clock tells it after that, if there is more to read, and then after every few reads; and whoever handles
/// what was read asks for it amid that, behind each frame that may be costly (`SocketConnection.hasReadEnough`).
package struct ReadBudget {
  /// Most bytes. Large, because one store transaction is paid per turn.
  static let byteLimit = 4 << 20
  /// Reads for which the clock is not asked, unless one is longer than a TLS record.
  package static let readsPerLook = 4
  package static let recordSize = 16 << 10

  /// For how long all connections together may read in a turn, in nanoseconds, and how much of it one has at least. Who
  /// wants to hear from the emulator waits two turns behind a busy client, the one that it comes in and the next: whoever
  /// sends 50 pushes a second, each behind the answer to the last, must have it within 20 ms, or falls ever further behind. What
  /// a turn reads is also written in it, so reading may take half of the 10 ms. A commit is paid as often, and so a turn is
  /// longer while nobody else has come for some turns: measured, that takes a tenth off the cost of a frame.
  package struct Times {
    package var turn: Int64
    package var quietTurn: Int64
    package var least: Int64
    /// How long reading goes on before the hooks of the turn's beginning run again, in nanoseconds, to which a few reads come
    /// (`readsPerLook`). A look costs a microsecond.
    package var look: Int64

    package init(
      turn: Int64 = 5_000_000, quietTurn: Int64 = 80_000_000, least: Int64 = 1_000_000, look: Int64 = 500_000
    ) {
      (self.turn, self.quietTurn, self.least, self.look) = (turn, quietTurn, least, look)
    }
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
  /// How long a connection may read in this turn.
  var readShare: Int64 {
    let turn = isQuiet ? readTimes.quietTurn : readTimes.turn
    return max(readTimes.least, (turn - timeRead) / Int64(max(1, busyReaders)))
  }

  /// Whether the connection that reads now has had its share of this turn's time. The first to ask has the time begin.
  @inline(never)
  func hasReadEnough() -> Bool {
    let now = SystemClock.now()
    lookAgain(now)
    guard let since = readingSince else {
      readingSince = now
      return false
    }
    let time = now.nanoseconds(since: since)
    guard time >= readShare else { return false }
    timeRead += time
    readingSince = now
    return true
  }
}
