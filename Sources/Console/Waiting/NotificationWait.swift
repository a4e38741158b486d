import Broker
import PushModel
import Transport

/// One client that waits for notifications (`interface.md`, wait). Looks at each notification once, and again only at
/// those whose state may still become what it waits for.
final class NotificationWait {
  /// Default and largest `timeoutMs`, in milliseconds.
  static let defaultTimeout: Int64 = 5000
  static let timeouts: ClosedRange<Int64> = 0...600_000
  /// Largest `count`.
  static let counts: ClosedRange<Int64> = 1...1000
  /// Most notifications that are looked at again, as a count; the oldest are given up first.
  private static let pendingLimit = 20_000

  let exchange: HTTPExchange
  let search: NotificationSearch
  let count: Int
  let timeout: Int64
  /// Keeps the timer running.
  var timer: AnyObject?
  /// Ids that matched, in the order in which they did.
  private(set) var matched: [UInt64] = []
  private let steady: [NotificationFilter.Condition]
  private let changing: [NotificationFilter.Condition]
  private var pending: [UInt64] = []
  private var next: UInt64

  /// Reads a body `{match, count, timeoutMs, since}`.
  init(_ body: JSONObject, _ exchange: HTTPExchange, _ broker: Broker) throws {
    self.exchange = exchange
    let body = body.droppingNull("since")
    let match = (try body.object("match") ?? JSONObject(members: [], place: "match")).droppingNull("since")
    var search = NotificationSearch(filter: try NotificationFilter(match.dropping("since")))
    // Both must make sense, even where the outer one counts.
    let inner = try Self.since(match)
    search.since = try Self.since(body) ?? inner
    count = Int(try body.integer("count", Self.counts) ?? 1)
    timeout = try body.integer("timeoutMs", Self.timeouts) ?? Self.defaultTimeout
    self.search = search
    steady = search.filter.conditions.filter { !$0.mayChange }
    changing = search.filter.conditions.filter(\.mayChange)
    next = search.firstId(broker.journal)
  }

  /// A number or a text; null for none, as programs send that have no position yet.
  private static func since(_ body: JSONObject) throws -> NotificationSearch.Since? {
    if case .string(let text)? = body["since"] { return try NotificationSearch.since(text) }
    return try body.integer("since", 0...Int64.max).map { .id(UInt64($0)) }
  }

  var isFulfilled: Bool { matched.count >= count }
  /// Whether there are notifications that were not looked at.
  func isBehind(_ broker: Broker) -> Bool { next < broker.journal.nextId }

  /// Looks at what is new, and at what may have changed.
  func look(_ broker: Broker) {
    let waiting = pending
    pending = []
    for id in waiting where !isFulfilled { look(at: id, broker) }
    next = max(next, broker.journal.firstId)
    let end = min(broker.journal.nextId, next + UInt64(NotificationSearch.scanLimit))
    while next < end, !isFulfilled {
      look(at: next, broker)
      next += 1
    }
    if pending.count > Self.pendingLimit { pending.removeFirst(pending.count - Self.pendingLimit) }
  }

  private func look(at id: UInt64, _ broker: Broker) {
    guard !broker.journal.hidden.contains(id), let record = broker.journal[id], search.isInTime(record),
      steady.allSatisfy({ $0.holds(record, broker) })
    else { return }
    if changing.allSatisfy({ $0.holds(record, broker) }) {
      matched.append(id)
    } else if record.state == .stored || record.state == .sent {
      pending.append(id)
    }
  }
}

extension NotificationFilter.Condition {
  /// Whether a notification that does not match may match later.
  var mayChange: Bool {
    if case .state = self { return true }
    return false
  }
}
