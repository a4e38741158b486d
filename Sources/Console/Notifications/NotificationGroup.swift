import Basics
import Broker
import ConsoleAnswers
import Transport

/// Notifications that came in: lists of them, one of them, and forgetting them.
package struct NotificationGroup: RouteGroup {
  private let broker: Broker
  private let events: OwnEvents

  /// `events`: who watches is told of what is forgotten.
  package init(_ broker: Broker, _ events: OwnEvents) { (self.broker, self.events) = (broker, events) }

  package var routes: [Route] {
    [
      .get("/api/v1/notifications", "Notifications that came in, oldest first", .document(list))
        .at(.merged(.list)).query(RouteParameter.filters + RouteParameter.cursor)
        .answers(
          200, "Notifications that match, and the id to continue from", NotificationAnswer.found.schema),
      .delete(
        "/api/v1/notifications", "Removes the notifications that match; without filters all",
        .document(delete)
      )
      .at(.merged(.deletion)).query(RouteParameter.filters)
      .answers(200, "The number of removed notifications", Self.deleted.schema),
      .get("/api/v1/notifications/{id}", "One notification with headers and raw bytes", .answer(show))
        .at(.home).anyQuery.answers(200, "The notification", NotificationDocument.whole.schema),
    ]
  }

  private func list(_ request: ConsoleRequest) throws -> GrowingDocument {
    let search = try request.query { try NotificationSearch(&$0) }
    return GrowingDocument(search.begin(broker).members(broker))
  }

  private func show(_ request: ConsoleRequest) throws -> HTTPResponse {
    let text = request.part("id")
    guard let id = UInt64(text) else {
      throw ConsoleError.bad("id", expected: "a notification's number", got: text)
    }
    guard let record = broker.journal.shown(id) else {
      throw ConsoleError.notFound("there is no notification \(id); the history keeps the newest")
    }
    return HTTPResponse(json: NotificationDocument.whole.write(NotificationDocument(record, broker)))
  }

  private func delete(_ request: ConsoleRequest) throws -> GrowingDocument {
    deletion(try request.query { try NotificationFilter(&$0) })
  }

  /// Forgets those that are there now. `elsewhere`: how many other nodes have forgotten.
  package func deletion(_ filter: NotificationFilter, elsewhere: Int = 0) -> GrowingDocument {
    var search = NotificationSearch(filter: filter)
    search.limit = .max
    let (scan, journal, end, isEmpty) = (
      search.begin(broker), broker.journal, broker.journal.nextId, filter.isEmpty
    )
    var count = elsewhere
    let look = { (slice: inout Slice) in
      switch scan.step(&slice) {
      case .record(let record):
        journal.hide(record.id)
        count += 1
      case .nothing: break
      case .end:
        if isEmpty { journal.forget(before: end) }
        return false
      }
      return true
    }
    // What is deleted is counted before its number is asked for.
    return GrowingDocument([
      .late(after: look) {
        events.publish("reset", [("what", ["notifications"])])
        return Self.deleted.written(count)
      }
    ])
  }

  /// How many there were.
  package static let deleted = JSONShape<Int>(["deleted": .show(1) { $0 }]).named("Deletion")
}

/// What lists of notifications and waits for them answer. It is written as they are found (`HistorySource.members`).
enum NotificationAnswer {
  static let found = JSONShape<Void>(["notifications": .elsewhere([NotificationDocument].schema)] + position)
    .named("Notifications")

  /// Of a wait that has found too little.
  static let timeout = JSONShape<Void>(
    [
      "error": .elsewhere(error), "nearMisses": .elsewhere([NearMiss].schema),
      "notifications": .elsewhere([NotificationDocument].schema.showing([])),
    ] + position
  ).named("WaitTimeout")

  private static let error = JSONSchema(
    ["type": "object"],
    example: ["code": "timeout", "message": "0 of 1 notifications matched within 1000 ms"])

  private static let position: JSONShape<Void> = [
    "next": .elsewhere(JSONSchema(cursor, example: 1)),
    "missing": .elsewhere(JSONSchema(missing, example: []), isRequired: false),
  ]

  private static let missing: JSONValue = [
    "type": "array", "items": ["type": "string"],
    "description": "In a cluster, nodes that have not answered in time: what came in by them is left out.",
  ]

  /// Where to go on: an id, or in a cluster one of each node.
  static let cursor: JSONValue = ["oneOf": .array(cursors)]
  static let cursors: [JSONValue] = [
    .integers(0...Int64.max),
    [
      "type": "string", "pattern": "^[0-9]{1,18}(~[0-9]{1,18}){0,9}$",
      "description": "In a cluster, an id of each node; `since` and `before` take it as it is.",
    ],
  ]
}
