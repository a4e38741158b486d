import Basics

/// Lets only so many devices of a loop open connections at once; the others stand in line, and their timeout begins when it is
/// their turn. For devices by the thousand: those that a busy service has not come to would give up and come again, and what it
/// had done for them would be in vain.
package final class ConnectGate {
  private let limit: Int
  private var underWay = 0
  /// Each waits for its turn. In the order in which they came; those that have left the line meanwhile are passed over.
  private var line = FIFO<() -> Bool>()
  private var isCalling = false

  /// Lets `limit` devices through at once.
  package init(limit: Int) { self.limit = max(1, limit) }

  /// Answers whether the caller may go on at once. Otherwise `turn` is called once there is room, and answers whether it was
  /// taken; who takes it leaves, as anybody else.
  package func enter(orElse turn: @escaping () -> Bool) -> Bool {
    guard underWay >= limit else {
      underWay += 1
      return true
    }
    line.append(turn)
    return false
  }

  /// Somebody who was let in is connected, or has failed.
  package func leave() {
    underWay -= 1
    // Who is called may fail and leave at once.
    guard !isCalling else { return }
    isCalling = true
    while underWay < limit, !line.isEmpty {
      underWay += 1
      let turn = line.removeFirst()
      if !turn() { underWay -= 1 }
    }
    isCalling = false
  }
}
