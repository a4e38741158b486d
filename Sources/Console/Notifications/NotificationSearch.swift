import Basics
import Broker
import Transport

/// One look through the history: oldest first after a cursor, or newest first before one.
///
/// It may last many turns of the loop. What comes meanwhile is not part of it; what the ring loses meanwhile is left
/// out; and each notification is shown in the state that it has when its turn comes.
struct NotificationSearch {
  /// Default and largest `limit`, as counts.
  static let defaultLimit = 1000
  static let limits = 1...10_000
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
    isNewestFirst = try query.value("order", .word([false, true], { $0 ? "newest" : "oldest" })) ?? false
    if let cursor = query.text("before").flatMap(HistoryCursor.init) {
      before = cursor.ids.last
    } else {
      before = try query.integer("before", 0...Int.max).map(UInt64.init)
    }
  }

  init(filter: NotificationFilter) { self.filter = filter }

  /// Reads an id or a moment.
  static func since(_ text: String) throws -> Since {
    // Of a cursor of several nodes the lowest, so that nothing is left out.
    if let id = HistoryCursor(text)?.ids.first { return .id(id) }
    guard let time = Timestamp(rfc3339: text) else {
      throw ConsoleError.bad("since", expected: "an id or a time as 2026-01-02T03:04:05Z", got: text)
    }
    return .time(time)
  }

  /// The first id that `since` allows and that is still here.
  func firstId(_ journal: Journal) -> UInt64 {
    guard case .id(let id)? = since else { return journal.firstId }
    return max(journal.firstId, id == .max ? id : id + 1)
  }

  /// Begins to look at what there is now.
  func begin(_ broker: Broker) -> NotificationScan { NotificationScan(self, broker) }

  func isInTime(_ record: JournalRecord) -> Bool {
    guard case .time(let time)? = since else { return true }
    return record.receivedAt >= time
  }
}

/// Where a reader of several nodes' histories was: an id of each node at most, which says by itself whose it is.
///
///     137438953487~206158430215
///
/// Of a node that it does not name nothing has been read.
struct HistoryCursor: Equatable {
  /// More nodes than there can be need not be read, as a count.
  private static let limit = 1024

  var ids: [UInt64]

  init(_ ids: [UInt64]) { self.ids = ids.sorted() }

  /// nil for what is no cursor, as a time.
  init?(_ text: String) {
    let parts = text.split(separator: "~", omittingEmptySubsequences: false)
    let ids = parts.compactMap { UInt64($0) }.filter { $0 <= UInt64(Int64.max) }
    guard ids.count == parts.count, ids.count <= Self.limit else { return nil }
    self.init(ids)
  }

  /// As `next` says it.
  var text: String { ids.map(String.init).joined(separator: "~") }
}

extension HTTPRequest {
  /// Query items that are cursors.
  private static let cursors: Set<String> = ["since", "before"]

  /// The request as one of several nodes is asked: of a cursor it gets what is its own.
  func part(isItsOwn: (UInt64) -> Bool) -> HTTPRequest {
    var part = self
    part.query = query.compactMap { item in
      guard Self.cursors.contains(item.name), let cursor = HistoryCursor(item.value) else { return item }
      return cursor.ids.first(where: isItsOwn).map { (item.name, String($0)) }
    }
    return part
  }
}

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
