import Broker
import PushModel

/// One look through the history: oldest first after a cursor, or newest first before one.
struct NotificationSearch {
  /// Default and largest `limit`, as counts.
  static let defaultLimit = 1000
  static let limits = 1...10_000
  /// Most records looked at by one request, as a count: the loop must go on serving. A search that ends here says
  /// where to go on.
  static let scanLimit = 200_000

  /// Where to begin.
  enum Since: Equatable {
    /// After this id.
    case id(UInt64)
    /// From this moment on.
    case time(Timestamp)
  }

  var filter: NotificationFilter
  var since: Since?
  var limit = Self.defaultLimit
  var isNewestFirst = false
  /// With newest first: only ids below this one.
  var before: UInt64?

  /// Takes its part of a query.
  init(_ query: inout QueryReader) throws {
    filter = try NotificationFilter(&query)
    since = try query.text("since").map(Self.since)
    limit = try query.integer("limit", Self.limits) ?? Self.defaultLimit
    isNewestFirst = try query.choice("order", ["oldest", "newest"]) == "newest"
    before = try query.integer("before", 0...Int.max).map(UInt64.init)
  }

  init(filter: NotificationFilter) { self.filter = filter }

  /// Reads an id or a moment.
  static func since(_ text: String) throws -> Since {
    if let id = UInt64(text), id <= UInt64(Int64.max) { return .id(id) }
    guard let time = Timestamp(rfc3339: text) else {
      throw ConsoleError.bad("since", expected: "an id or a time as 2026-01-02T03:04:05Z", got: text)
    }
    return .time(time)
  }

  struct Result {
    var records: [JournalRecord] = []
    /// The last id looked at: `since` (or `before`) of the next request.
    var next: UInt64
  }

  func run(_ broker: Broker) -> Result {
    isNewestFirst ? backward(broker) : forward(broker)
  }

  /// The first id that `since` allows and that is still here.
  func firstId(_ journal: Journal) -> UInt64 {
    guard case .id(let id)? = since else { return journal.firstId }
    return max(journal.firstId, id == .max ? id : id + 1)
  }

  private func forward(_ broker: Broker) -> Result {
    let journal = broker.journal
    let first = firstId(journal)
    var result = Result(next: first > 0 ? first - 1 : 0)
    var id = first
    while id < journal.nextId, id - first < UInt64(Self.scanLimit), result.records.count < limit {
      take(id, journal, broker, &result)
      id += 1
    }
    return result
  }

  private func backward(_ broker: Broker) -> Result {
    let journal = broker.journal
    var id = min(before ?? journal.nextId, journal.nextId)
    let lowest = max(journal.firstId, id > UInt64(Self.scanLimit) ? id - UInt64(Self.scanLimit) : 0)
    var result = Result(next: id)
    while id > lowest, result.records.count < limit {
      id -= 1
      if case .id(let floor)? = since, id <= floor { break }
      take(id, journal, broker, &result)
    }
    return result
  }

  private func take(_ id: UInt64, _ journal: Journal, _ broker: Broker, _ result: inout Result) {
    result.next = id
    guard !journal.hidden.contains(id), let record = journal[id], isInTime(record),
      filter.matches(record, broker)
    else { return }
    result.records.append(record)
  }

  func isInTime(_ record: JournalRecord) -> Bool {
    guard case .time(let time)? = since else { return true }
    return record.receivedAt >= time
  }
}
