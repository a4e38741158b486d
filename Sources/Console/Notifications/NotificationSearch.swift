import Basics
import Broker
import ConsoleAnswers
import Phones
import PushModel
import Transport

/// One look through the history: oldest first after a cursor, or newest first before one.
///
/// It may last many turns of the loop. What comes meanwhile is not part of it; what the ring loses meanwhile is left
/// out; and each notification is shown in the state that it has when its turn comes.
package struct NotificationSearch {
  /// Default and largest `limit`, as counts.
  package static let defaultLimit = 1000
  package static let limits = 1...10_000
  /// Where to begin.
  package enum Since: Equatable {
    /// After this id.
    case id(UInt64)
    /// From this moment on.
    case time(Timestamp)
  }

  package var filter: NotificationFilter
  package var since: Since?
  package var limit = Self.defaultLimit
  package var isNewestFirst = false
  /// With newest first: only ids below this one.
  package var before: UInt64?

  /// Takes its part of a query.
  package init(_ query: inout QueryReader) throws {
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

  package init(filter: NotificationFilter) { self.filter = filter }

  /// Reads an id or a moment.
  package static func since(_ text: String) throws -> Since {
    // Of a cursor of several nodes the lowest, so that nothing is left out.
    if let id = HistoryCursor(text)?.ids.first { return .id(id) }
    guard let time = Timestamp(rfc3339: text) else {
      throw ConsoleError.bad("since", expected: "an id or a time as 2026-01-02T03:04:05Z", got: text)
    }
    return .time(time)
  }

  /// The first id that `since` allows and that is still here.
  package func firstId(_ journal: Journal) -> UInt64 {
    guard case .id(let id)? = since else { return journal.firstId }
    return max(journal.firstId, id == .max ? id : id + 1)
  }

  /// Begins to look at what there is now.
  package func begin(_ broker: Broker) -> NotificationScan { NotificationScan(self, broker) }

  package func isInTime(_ record: JournalRecord) -> Bool {
    guard case .time(let time)? = since else { return true }
    return record.receivedAt >= time
  }
}

/// Where a reader of several nodes' histories was: an id of each node at most, which says by itself whose it is.
///
///     137438953487~206158430215
///
/// Of a node that it does not name nothing has been read.
package struct HistoryCursor: Equatable {
  /// More nodes than there can be need not be read, as a count.
  private static let limit = 1024

  package var ids: [UInt64]

  package init(_ ids: [UInt64]) { self.ids = ids.sorted() }

  /// nil for what is no cursor, as a time.
  package init?(_ text: String) {
    let parts = text.split(separator: "~", omittingEmptySubsequences: false)
    let ids = parts.compactMap { UInt64($0) }.filter { $0 <= UInt64(Int64.max) }
    guard ids.count == parts.count, ids.count <= Self.limit else { return nil }
    self.init(ids)
  }

  /// As `next` says it.
  package var text: String { ids.map(String.init).joined(separator: "~") }
}

/// Notifications of a history, one after the other.
package protocol HistorySource: AnyObject {
  /// The next one that matches, unless finding it takes more than this look.
  func step(_ slice: inout Slice) -> NotificationScan.Finding
  /// The last id that it has looked at: where to go on.
  var next: UInt64 { get }
}

extension HistorySource {
  /// The members of an answer: those that match, and where to go on.
  package func members(_ broker: Broker) -> [GrowingDocument.Member] {
    [
      .list("notifications") { [self] slice in
        switch step(&slice) {
        case .record(let record): .notification(record, broker)
        case .nothing: .nothing
        case .end: .end
        }
      }, .late { [self] in [("next", .integer(Int64(clamping: next)))] },
    ]
  }
}

/// A search on its way through the history, one record after the other.
package final class NotificationScan: HistorySource {
  private let search: NotificationSearch
  private let broker: Broker
  /// The end beyond which it does not look: what was newest, or where `since` points with newest first.
  private let end: UInt64
  /// Forwards: the id that is looked at next. Backwards: the one above it.
  private var position: UInt64
  private var found = 0
  /// The last id looked at: `since` (or `before`) of the next request.
  package private(set) var next: UInt64

  package init(_ search: NotificationSearch, _ broker: Broker) {
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
  package enum Finding {
    case record(JournalRecord), nothing, end
  }

  /// The next notification that matches, unless finding it takes more than this look.
  package func step(_ slice: inout Slice) -> Finding {
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

/// What notifications a request is about: every condition must hold (`Documentation/console-api.md`).
package struct NotificationFilter {
  /// One condition.
  package struct Condition: Hashable {
    /// As in the query, in the order of the contract.
    package enum Name: String, CaseIterable {
      case topic, token, udid, interface, status, reason, state
      /// What a phone has told of it.
      case phone
      /// Anywhere in the payload; ASCII letters are compared without case.
      case payload = "q"
    }

    package enum Wanted: Hashable {
      case text(String)
      /// What hexadecimal digits spell.
      case bytes([UInt8])
      case status(Int)
      case part(ByteSearch)
    }

    package let name: Name
    package let wanted: Wanted
  }

  package var conditions: [Condition] = []

  package var isEmpty: Bool { conditions.isEmpty }

  package init(_ conditions: [Condition]) { self.conditions = conditions }

  /// Takes the filters out of a query.
  package init(_ query: inout QueryReader) throws {
    for name in Condition.Name.allCases {
      if let value = query.text(name.rawValue) { conditions.append(try Self.condition(name, value)) }
    }
  }

  /// Reads the `match` of a body; the status may be a number.
  package init(_ match: JSONObject) throws {
    try match.check(allowing: Condition.Name.allCases.map(\.rawValue))
    for name in Condition.Name.allCases {
      guard let value = match[name.rawValue] else { continue }
      switch value {
      case .string(let text): conditions.append(try Self.condition(name, text))
      case .integer(let number) where name == .status:
        conditions.append(try Self.condition(name, String(number)))
      case .number(let number) where name == .status && Int64(exactly: number) != nil:
        conditions.append(try Self.condition(name, String(Int64(number))))
      default:
        throw DocumentError(
          match.path(name.rawValue), expected: name == .status ? "a number" : "a string", got: value)
      }
    }
  }

  private static func condition(_ name: Condition.Name, _ value: String) throws -> Condition {
    Condition(name: name, wanted: try wanted(name, value))
  }

  private static func wanted(_ name: Condition.Name, _ value: String) throws -> Condition.Wanted {
    switch name {
    case .topic, .udid: break
    case .token:
      guard let bytes = Hex.decode(value), !bytes.isEmpty else {
        throw ConsoleError.bad(name.rawValue, expected: "hexadecimal digits", got: value)
      }
      return .bytes(bytes)
    case .interface: try check(name, value, Interface.allCases.map(\.name))
    case .status:
      guard let status = Int(value), (100...599).contains(status) else {
        throw ConsoleError.bad(name.rawValue, expected: "an HTTP status from 100 to 599", got: value)
      }
      return .status(status)
    case .reason: try check(name, value, JSONValue.reasons)
    case .state: try check(name, value, NotificationState.allCases.map(\.name))
    case .phone:
      guard PhoneHappening.isName(value) else {
        throw ConsoleError.bad(name.rawValue, expected: "an event of a phone, as presented", got: value)
      }
    case .payload: return .part(ByteSearch(value))
    }
    return .text(value)
  }

  private static func check(_ name: Condition.Name, _ text: String, _ words: [String]) throws {
    guard words.contains(text) else { throw DocumentError(name.rawValue, expected: words, got: text) }
  }

  /// Whether every condition holds.
  package func matches(_ record: JournalRecord, _ broker: Broker, _ slice: inout Slice) -> Bool {
    for condition in conditions {
      slice.spend(condition.cost(record))
      guard condition.holds(record, broker) else { return false }
    }
    return true
  }
}

extension NotificationFilter.Condition {
  /// What looking at a record costs, in units of `Slice`.
  package func cost(_ record: JournalRecord) -> Int {
    name == .payload ? Slice.look + record.payload.count / Slice.bytesSearched : Slice.look
  }

  /// Whether a notification that does not match may match later, as it goes on its way.
  package var mayChange: Bool { name == .state }

  package func holds(_ record: JournalRecord, _ broker: Broker) -> Bool {
    switch wanted {
    case .text(let event) where name == .phone:
      broker.journal.phoneSteps(record.id).contains { $0.event == event }
    case .text(let wanted): text(record, broker) == wanted
    case .bytes(let bytes): record.presentedToken.hasSameBytes(as: bytes.span)
    case .status(let status): record.verdict(broker).status == status
    case .part(let search): search.isIn(record.payload)
    }
  }

  /// What was asked for.
  package var expected: JSONValue {
    switch wanted {
    case .text(let text): .string(text)
    case .bytes(let bytes): .string(Hex.encode(bytes))
    case .status(let status): .integer(Int64(status))
    case .part(let search): .string(search.text)
    }
  }

  /// What a record has in its place.
  package func actual(_ record: JournalRecord, _ broker: Broker) -> JSONValue {
    switch name {
    case .token: .string(Hex.encode(record.presentedToken))
    case .status: .optional(record.verdict(broker).status)
    case .phone: .array(broker.journal.phoneSteps(record.id).map { .string($0.event) })
    case .payload: .string("not in the payload")
    case .topic, .udid, .interface, .reason, .state: .optional(text(record, broker))
    }
  }

  /// What a record has of those that are one text.
  private func text(_ record: JournalRecord, _ broker: Broker) -> String? {
    switch name {
    case .topic: record.topicLabel(broker)
    case .udid: record.udid(broker)?.text
    case .interface: record.interface.name
    case .reason: record.verdict(broker).reason
    case .state: record.state.name
    case .token, .status, .phone, .payload: nil
    }
  }
}
