import Basics
import Broker
import Transport

/// One client that waits for notifications (`Documentation/console-api.md`): what it asks for, and what was found so
/// far.
///
/// It first looks through what came before (`isScanning`), while `WaitBoard` tells it of what comes and changes from then
/// on. What came before counts first.
final class NotificationWait {
  /// Default and largest `timeoutMs`, in milliseconds.
  static let defaultTimeout: Int64 = 5000
  static let timeouts: ClosedRange<Int64> = 0...600_000
  /// Largest `count`.
  static let counts: ClosedRange<Int64> = 1...1000

  let exchange: HTTPExchange
  let search: NotificationSearch
  let count: Int
  let timeout: Int64
  /// Keeps the timer running.
  var timer: AnyObject?
  /// Told of each that is found, as it is.
  var onFound: (JournalRecord) -> Void = { _ in }
  /// Takes the place of the answer, for a part of a wait at several nodes; whether it has found all.
  var onConcluded: ((_ isFulfilled: Bool) -> Void)?
  /// Its time is over: it ends when it has looked at everything that came before that.
  var isOverdue = false
  /// What was found, in the order in which it was.
  private var earlier: [UInt64] = []
  private var later: [UInt64] = []
  private var known: Set<UInt64> = []
  private var scanPosition: UInt64
  private var scanEnd: UInt64

  /// Members of a body.
  static let names = ["match", "count", "timeoutMs", "since"]

  /// A body, in JSON Schema.
  static var schema: JSONSchema {
    let digits: JSONValue = ["type": "string", "pattern": "^[1-5][0-9][0-9]$"]
    let filters = RouteParameter.filters.map {
      ($0.name, $0.name == "status" ? ["oneOf": [$0.schema.definition, digits]] : $0.schema.definition)
    }
    let since: JSONValue = [
      "oneOf": .array(
        NotificationAnswer.cursors + [["type": "string", "format": "date-time"], ["type": "null"]])
    ]
    let definition: JSONValue = [
      "type": "object", "additionalProperties": false,
      "properties": [
        "match": [
          "type": "object", "additionalProperties": false,
          "properties": .object(filters + [("since", since)]),
        ],
        "count": .integers(counts), "timeoutMs": .integers(timeouts),
        "since": since,
      ],
    ]
    return JSONSchema(
      "Wait", definition,
      example: ["match": ["topic": JSONExample.topic], "count": 1, "timeoutMs": 1000])
  }

  /// Reads a body.
  init(_ body: JSONObject, _ exchange: HTTPExchange, _ broker: Broker) throws {
    self.exchange = exchange
    let body = body.droppingNull("since")
    let match = (try body["match"].map { try JSONObject($0, place: "match") } ?? JSONObject(place: "match"))
      .droppingNull("since")
    var search = NotificationSearch(filter: try NotificationFilter(match.dropping("since")))
    // Both must make sense, even where the outer one counts.
    let inner = try Self.since(match)
    search.since = try Self.since(body) ?? inner
    count = try body.value("count", .whole(Self.counts)) ?? 1
    timeout = try body.value("timeoutMs", .whole(Self.timeouts)) ?? Self.defaultTimeout
    self.search = search
    (scanPosition, scanEnd) = (search.firstId(broker.journal), broker.journal.nextId)
  }

  /// A number or a text; null for none, as programs send that have no position yet.
  private static func since(_ body: JSONObject) throws -> NotificationSearch.Since? {
    if case .string(let text)? = body["since"] { return try NotificationSearch.since(text) }
    return try body.value("since", .whole(0...Int64.max)).map { .id($0) }
  }

  /// Whether there are earlier notifications that it has not looked at.
  var isScanning: Bool { scanPosition < scanEnd && earlier.count < count }
  var isFulfilled: Bool { earlier.count >= count || !isScanning && matched.count >= count }
  /// What matched: never more than was asked for.
  var matched: [UInt64] { Array((earlier + later).prefix(count)) }

  /// Looks at one earlier notification.
  func look(_ broker: Broker, _ slice: inout Slice) {
    scanPosition = max(scanPosition, broker.journal.firstId)
    guard isScanning else { return }
    let id = scanPosition
    scanPosition += 1
    guard let record = broker.journal.shown(id), search.isInTime(record),
      search.filter.matches(record, broker, &slice), known.insert(id).inserted
    else { return }
    earlier.append(id)
    onFound(record)
  }

  /// Events were lost: looks again from `position` on, or at everything.
  func lookAgain(from position: UInt64?, _ broker: Broker) {
    let start = search.firstId(broker.journal)
    // What it was still looking for lies before.
    if !isScanning || position == nil { scanPosition = max(start, position ?? start) }
    scanEnd = broker.journal.nextId
  }

  /// A notification that came or changed matches its filters.
  func found(_ record: JournalRecord) {
    guard record.id >= startId, search.isInTime(record), later.count < count,
      known.insert(record.id).inserted
    else { return }
    later.append(record.id)
    onFound(record)
  }

  private var startId: UInt64 {
    guard case .id(let id)? = search.since else { return 0 }
    return id == .max ? id : id + 1
  }
}
