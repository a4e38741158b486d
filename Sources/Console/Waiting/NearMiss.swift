import Basics
import Broker
import ConsoleAnswers

/// A notification that came but did not match, and which filters it failed: mostly the answer to "why does my test
/// wait in vain".
package struct NearMiss: JSONAnswer {
  package let record: JournalRecord
  package let failed: [NotificationFilter.Condition]

  package let broker: Broker

  package static let shape = JSONShape<NearMiss>([
    "notification": .show { NotificationDocument($0.record, $0.broker) },
    "failed": .list(of: failure) { miss in miss.failed.map { (miss, $0) } },
  ]).named("NearMiss")

  private static let failure: JSONShape<(miss: NearMiss, filter: NotificationFilter.Condition)> = [
    "filter": .show("state") { $0.filter.name.rawValue }, "expected": .show("stored") { $0.filter.expected },
    "actual": .show("delivered") { $0.filter.actual($0.miss.record, $0.miss.broker) },
  ]
}

/// Looks for the nearest misses: those that fail the fewest filters, the newest first.
package final class NearMissSearch {
  /// Most near misses told, and most notifications looked at for them, as counts.
  package static let limit = 5
  package static let scanLimit: UInt64 = 1000

  private let search: NotificationSearch
  private let broker: Broker
  private var position: UInt64
  private let end: UInt64
  /// Ids with how many filters they fail, the nearest first.
  private var nearest: [(id: UInt64, failed: Int)] = []

  package init(_ search: NotificationSearch, _ broker: Broker) {
    (self.search, self.broker) = (search, broker)
    let newest = broker.journal.nextId
    position = newest
    end = max(search.firstId(broker.journal), newest > Self.scanLimit ? newest - Self.scanLimit + 1 : 0)
  }

  /// Looks at a notification each time it is asked, then tells what it has found.
  package func look(_ slice: inout Slice) -> GrowingDocument.Element {
    if position > end {
      position -= 1
      look(at: position, &slice)
      return .nothing
    }
    guard !nearest.isEmpty else { return .end }
    let id = nearest.removeFirst().id
    guard let record = broker.journal.shown(id) else { return .nothing }
    return .value(NearMiss(record: record, failed: failed(record, &slice), broker: broker).json)
  }

  private func look(at id: UInt64, _ slice: inout Slice) {
    guard let record = broker.journal.shown(id), search.isInTime(record) else { return }
    let count = failed(record, &slice).count
    guard count > 0, nearest.count < Self.limit || count < nearest.last?.failed ?? 0 else { return }
    let place = nearest.firstIndex { $0.failed > count } ?? nearest.count
    nearest.insert((id, count), at: place)
    if nearest.count > Self.limit { nearest.removeLast() }
  }

  private func failed(_ record: JournalRecord, _ slice: inout Slice) -> [NotificationFilter.Condition] {
    search.filter.conditions.filter {
      slice.spend($0.cost(record))
      return !$0.holds(record, broker)
    }
  }
}
