import Basics
import Broker
import ConsoleAnswers
import Transport

/// One client that waits for notifications (`Documentation/console-api.md`): what it asks for, and what was found so
/// far.
///
/// It first looks through what came before (`isScanning`), while `WaitBoard` tells it of what comes and changes from then
/// on. What came before counts first.
package final class NotificationWait {
  /// Default and largest `timeoutMs`, in milliseconds.
  package static let defaultTimeout: Int64 = 5000
  package static let timeouts: ClosedRange<Int64> = 0...600_000
  /// Largest `count`.
  package static let counts: ClosedRange<Int64> = 1...1000

  package let exchange: HTTPExchange
  package let search: NotificationSearch
  package let count: Int
  package let timeout: Int64
  /// Keeps the timer running.
  package var timer: AnyObject?
  /// Who waits; nil once that is over.
  package var listener: (any WaitListener)?
  /// Its time is over: it ends when it has looked at everything that came before that.
  package var isOverdue = false
  /// What was found, in the order in which it was.
  private var earlier: [UInt64] = []
  private var later: [UInt64] = []
  private var known: Set<UInt64> = []
  private var scanPosition: UInt64
  private var scanEnd: UInt64

  /// Members of a body.
  private static let names = ["match", "count", "timeoutMs", "since"]

  /// A body, in JSON Schema.
  package static var schema: JSONSchema {
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
  package init(_ body: JSONObject, _ exchange: HTTPExchange, _ broker: Broker) throws {
    self.exchange = exchange
    try body.check(allowing: Self.names)
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
  package var isScanning: Bool { scanPosition < scanEnd && earlier.count < count }
  package var isFulfilled: Bool { earlier.count >= count || !isScanning && matched.count >= count }
  /// What matched: never more than was asked for.
  package var matched: [UInt64] { Array((earlier + later).prefix(count)) }

  /// Looks at one earlier notification.
  package func look(_ broker: Broker, _ slice: inout Slice) {
    scanPosition = max(scanPosition, broker.journal.firstId)
    guard isScanning else { return }
    let id = scanPosition
    scanPosition += 1
    guard let record = broker.journal.shown(id), search.isInTime(record),
      search.filter.matches(record, broker, &slice), known.insert(id).inserted
    else { return }
    earlier.append(id)
    listener?.found(record)
  }

  /// Events were lost: looks again from `position` on, or at everything.
  package func lookAgain(from position: UInt64?, _ broker: Broker) {
    let start = search.firstId(broker.journal)
    // What it was still looking for lies before.
    if !isScanning || position == nil { scanPosition = max(start, position ?? start) }
    scanEnd = broker.journal.nextId
  }

  /// A notification that came or changed matches its filters.
  package func found(_ record: JournalRecord) {
    guard record.id >= startId, search.isInTime(record), later.count < count,
      known.insert(record.id).inserted
    else { return }
    later.append(record.id)
    listener?.found(record)
  }

  private var startId: UInt64 {
    guard case .id(let id)? = search.since else { return 0 }
    return id == .max ? id : id + 1
  }
}
