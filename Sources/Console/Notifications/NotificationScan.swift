import Broker
import PushModel

/// A search on its way through the history, one record after the other.
final class NotificationScan {
  private let search: NotificationSearch
  private let broker: Broker
  /// The end beyond which it does not look: what was newest, or where `since` points with newest first.
  private let end: UInt64
  /// Forwards: the id that is looked at next. Backwards: the one above it.
  private var position: UInt64
  private var found = 0
  /// The last id looked at: `since` (or `before`) of the next request.
  private(set) var next: UInt64

  init(_ search: NotificationSearch, _ broker: Broker) {
    (self.search, self.broker) = (search, broker)
    let journal = broker.journal
    if search.isNewestFirst {
      position = min(search.before ?? journal.nextId, journal.nextId)
      end = search.firstId(journal)
      next = position
    } else {
      position = search.firstId(journal)
      end = journal.nextId
      next = position > 0 ? position - 1 : 0
    }
  }

  /// What one look has found.
  enum Finding {
    case record(JournalRecord), nothing, end
  }

  /// The next notification that matches, unless finding it takes more than this look.
  func step(_ slice: inout Slice) -> Finding {
    guard found < search.limit, let id = advance() else { return .end }
    next = id
    guard let record = broker.journal.shown(id), search.isInTime(record),
      search.filter.matches(record, broker, &slice)
    else { return .nothing }
    found += 1
    return .record(record)
  }

  /// The id to look at, past what the ring has lost.
  private func advance() -> UInt64? {
    if search.isNewestFirst {
      guard position > max(end, broker.journal.firstId) else { return nil }
      position -= 1
      return position
    }
    let id = max(position, broker.journal.firstId)
    guard id < end else { return nil }
    position = id + 1
    return id
  }
}
