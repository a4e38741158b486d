import Broker
import PushModel

/// A notification that came but did not match, and which filters it failed: mostly the answer to "why does my test
/// wait in vain".
struct NearMiss {
  /// Most near misses told, and most notifications looked at for them, as counts.
  static let limit = 5
  static let scanLimit = 1000

  let record: JournalRecord
  let failed: [NotificationFilter.Condition]

  /// The nearest: those that fail the fewest filters, the newest first.
  static func nearest(_ search: NotificationSearch, _ broker: Broker) -> [NearMiss] {
    var misses: [NearMiss] = []
    let first = search.firstId(broker.journal)
    var id = broker.journal.nextId
    while id > first, broker.journal.nextId - id < UInt64(scanLimit) {
      id -= 1
      guard !broker.journal.hidden.contains(id), let record = broker.journal[id] else { continue }
      let failed = search.filter.conditions.filter { !$0.holds(record, broker) }
      if !failed.isEmpty, search.isInTime(record) { misses.append(NearMiss(record: record, failed: failed)) }
    }
    return Array(
      misses.enumerated().sorted { left, right in
        (left.element.failed.count, left.offset) < (right.element.failed.count, right.offset)
      }.prefix(limit).map(\.element))
  }

  func json(_ broker: Broker) -> JSONValue {
    [
      "notification": NotificationDocument(broker: broker).summary(record),
      "failed": .array(
        failed.map {
          ["filter": .string($0.name), "expected": $0.expected, "actual": $0.actual(record, broker)]
        }),
    ]
  }
}
