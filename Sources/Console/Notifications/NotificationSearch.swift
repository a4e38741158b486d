import Broker
import PushModel

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
    isNewestFirst = try query.choice("order", ["oldest", "newest"]) == "newest"
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
