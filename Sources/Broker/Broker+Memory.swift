import PushModel

/// Memory that makes looking back possible and the next push quick: it can be given back at any time. The token map and what is kept
/// for devices are no part of it.
extension Broker {
  /// What history and empty message slots hold, in bytes.
  public var spareBytes: Int { journal.heldBytes &+ slots.spareBytes }

  /// Most that empty slots may hold for their next message, in bytes.
  public func limitSpareSlots(to bytes: Int) { slots.spareLimit = bytes }

  /// Gives back so many bytes, as far as there are: of empty slots first, of which it looks at `budget` rows, then the oldest of the
  /// history, of which `history` bytes stay.
  public func giveBack(_ bytes: Int, keepingOfHistory history: Int, budget: Int) {
    let before = slots.spareBytes
    slots.giveBackSpare(downTo: max(0, before - bytes), budget: budget)
    let rest = bytes - (before - slots.spareBytes)
    if rest > 0 { journal.giveBack(downTo: max(history, journal.heldBytes - rest)) }
  }
}
