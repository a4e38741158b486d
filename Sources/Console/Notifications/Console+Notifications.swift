import Broker
import PushModel
import Transport

extension Console {
  /// `GET /api/v1/notifications`
  func listNotifications(_ request: ConsoleRequest) throws -> HTTPResponse {
    var query = try request.query()
    let search = try NotificationSearch(&query)
    try query.finish()
    let result = search.run(broker)
    let document = NotificationDocument(broker: broker)
    return HTTPResponse(json: [
      "notifications": .array(result.records.map(document.summary)),
      "next": .integer(Int64(clamping: result.next)),
    ])
  }

  /// `GET /api/v1/notifications/{id}`
  func showNotification(_ request: ConsoleRequest) throws -> HTTPResponse {
    let text = request.part("id")
    guard let id = UInt64(text) else {
      throw ConsoleError.bad("id", expected: "a notification's number", got: text)
    }
    guard !broker.journal.hidden.contains(id), let record = broker.journal[id] else {
      throw ConsoleError.notFound("there is no notification \(id); the history keeps the newest")
    }
    return HTTPResponse(json: NotificationDocument(broker: broker).whole(record))
  }

  /// `DELETE /api/v1/notifications`
  func deleteNotifications(_ request: ConsoleRequest) throws -> HTTPResponse {
    var query = try request.query()
    let filter = try NotificationFilter(&query)
    try query.finish()
    let deleted = broker.journal.remove { filter.matches($0, broker) }
    if filter.isEmpty { broker.journal.clear() }
    publish("reset", [("what", ["notifications"])])
    return HTTPResponse(json: ["deleted": .integer(Int64(deleted))])
  }
}
