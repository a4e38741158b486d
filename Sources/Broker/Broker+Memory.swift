import PushModel

/// Memory that makes looking back possible and the next push quick: it can be given back at any time. The token map and what is
/// stored for devices are no part of it.
extension Broker {
  /// What history and empty slots hold, in bytes.
  public var spareBytes: Int { journal.heldBytes &+ deliveries.spareBytes }

  /// Gives back so many bytes, as far as there are: of empty slots first, of which it looks at `budget` rows, then the oldest of the
  /// history, of which `history` bytes stay.
  public func giveBack(_ bytes: Int, keepingOfHistory history: Int, budget: Int) {
    let rest = bytes - deliveries.giveBackSpare(bytes, budget: budget)
    if rest > 0 { journal.giveBack(downTo: max(history, journal.heldBytes - rest)) }
  }
}
