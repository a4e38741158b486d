import PushModel
import Transport

extension Console {
  /// `GET /api/v1/events`: everything that happens from now on, or since an event that the client names in the query or,
  /// as browsers do when they come back, in a header field.
  func streamEvents(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    var query = try request.query()
    let since = query.text("since")
    try query.finish()
    let text = request.http.field("last-event-id") ?? since
    let position = text.flatMap(EventPosition.init)
    guard (position == nil) == (text == nil) else {
      throw ConsoleError.bad("since", expected: "the id of an event", got: text ?? "")
    }
    guard request.http.method == "GET" else {
      return exchange.respond(
        finished(HTTPResponse(status: 200, fields: [HTTPField("Content-Type", "text/event-stream")])))
    }
    try eventPump.open(exchange, after: position)
  }
}
