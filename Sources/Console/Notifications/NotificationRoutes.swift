import Broker
import PushModel
import Transport

extension Console {
  static var notificationRoutes: [Route] {
    [
      .get(
        "/api/v1/notifications", "Notifications that came in, oldest first",
        .document(Console.listNotifications)
      )
      .merged(Console.mergeNotifications).query(RouteParameter.filters + RouteParameter.cursor)
      .answers(200, "Those that match, and where to go on", NotificationAnswer.found.schema),
      .delete(
        "/api/v1/notifications", "Forgets those that match; without filters all",
        .document(Console.deleteNotifications)
      )
      .merged(Console.deleteEverywhere).query(RouteParameter.filters)
      .answers(200, "How many there were", NotificationDeletion.shape.schema),
      .get(
        "/api/v1/notifications/{id}", "One notification with headers and raw bytes",
        .answer(Console.showNotification)
      )
      .merged(Console.findNotification).anyQuery
      .answers(200, "The notification", NotificationDocument.whole.schema),
    ]
  }

  /// `GET /api/v1/notifications`
  func listNotifications(_ request: ConsoleRequest) throws -> GrowingDocument {
    var query = try request.query()
    let search = try NotificationSearch(&query)
    try query.finish()
    return GrowingDocument(search.begin(broker).members(broker))
  }

  /// `GET /api/v1/notifications/{id}`
  func showNotification(_ request: ConsoleRequest) throws -> HTTPResponse {
    let text = request.part("id")
    guard let id = UInt64(text) else {
      throw ConsoleError.bad("id", expected: "a notification's number", got: text)
    }
    guard let record = broker.journal.shown(id) else {
      throw ConsoleError.notFound("there is no notification \(id); the history keeps the newest")
    }
    return HTTPResponse(json: NotificationDocument.whole.write(NotificationDocument(record, broker)))
  }

  /// `DELETE /api/v1/notifications`: of those that are there when it is asked for.
  func deleteNotifications(_ request: ConsoleRequest) throws -> GrowingDocument {
    var query = try request.query()
    let filter = try NotificationFilter(&query)
    try query.finish()
    return deletion(filter)
  }

  /// `elsewhere`: how many other nodes have deleted.
  func deletion(_ filter: NotificationFilter, elsewhere: Int = 0) -> GrowingDocument {
    let deletion = NotificationDeletion(filter, broker)
    // What is deleted is counted before its number is asked for.
    return GrowingDocument([
      .late(after: deletion.look) { [self] in
        publish("reset", [("what", ["notifications"])])
        return NotificationDeletion.shape.written(deletion.count + elsewhere)
      }
    ])
  }
}

/// Goes through the history and deletes what matches.
final class NotificationDeletion {
  /// How many there were.
  static let shape = JSONShape<Int>(["deleted": .show(1) { $0 }]).named("Deletion")

  private let filter: NotificationFilter
  private let broker: Broker
  private let end: UInt64
  private var position: UInt64 = 0
  private(set) var count = 0

  init(_ filter: NotificationFilter, _ broker: Broker) {
    (self.filter, self.broker, end) = (filter, broker, broker.journal.nextId)
  }

  /// Looks at one notification; false when there is none left.
  func look(_ slice: inout Slice) -> Bool {
    let id = max(position, broker.journal.firstId)
    guard id < end else {
      if filter.isEmpty { broker.journal.forget(before: end) }
      return false
    }
    position = id + 1
    if let record = broker.journal.shown(id), filter.matches(record, broker, &slice) {
      broker.journal.hide(id)
      count += 1
    }
    return true
  }
}
