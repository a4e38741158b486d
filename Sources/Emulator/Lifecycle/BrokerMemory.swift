import Broker
import Transport

/// What the broker remembers counts with what peers hold, and goes before any of them has to be evicted.
final class BrokerMemory {
  /// What the history may take, as a part of `--memory`: most users never get there, as 10,000 usual pushes are 5 MiB.
  private static let historyPart = 4
  /// What stays of it when memory is short: enough to see what happened last.
  private static let shortHistoryPart = 64
  /// What empty message slots may take.
  private static let slotsPart = 8
  /// Slots looked at in one turn when memory is short, as a count: a few milliseconds.
  private static let slotBudget = 50_000

  private let broker: Broker
  private let budget: MemoryBudget
  private let limit: Int
  private var share = MemoryShare()

  init(_ broker: Broker, _ budget: MemoryBudget, limit: Int) {
    (self.broker, self.budget, self.limit) = (broker, budget, limit)
    broker.deliveries.limitSpare(to: limit / Self.slotsPart)
  }

  /// To be called behind each turn's commit, when the log has told what came.
  func turnEnded() {
    broker.journal.giveBack(downTo: limit / Self.historyPart)
    count()
  }

  /// Memory is short by so many bytes.
  func giveBack(_ bytes: Int) {
    broker.giveBack(bytes, keepingOfHistory: limit / Self.shortHistoryPart, budget: Self.slotBudget)
    count()
  }

  private func count() { share.set(broker.spareBytes, in: budget) }
}
