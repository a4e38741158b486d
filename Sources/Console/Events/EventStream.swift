import PushModel
import Transport

/// One client of the event stream, in the format of server-sent events.
final class EventStream {
  private let exchange: HTTPExchange
  private var output = ""
  /// Number of the next event to send.
  var next: UInt64

  init(_ exchange: HTTPExchange, next: UInt64) { (self.exchange, self.next) = (exchange, next) }

  var hasRoom: Bool { exchange.queuedBytes < EventPump.unreadLimit }

  /// Sends the head, and how long a browser waits before it comes back.
  func start() {
    exchange.startStream(
      HTTPResponse(
        status: 200,
        fields: [
          HTTPField("Content-Type", "text/event-stream"), HTTPField("Cache-Control", "no-store"),
          HTTPField("X-Content-Type-Options", "nosniff"),
        ], body: Array("retry: 1000\n\n".utf8)))
  }

  /// Queues one event; JSON has no line breaks, so one data line holds it.
  func send(id: String, _ name: String, _ json: JSONValue) {
    output += "id: \(id)\nevent: \(name)\ndata: \(json.text)\n\n"
  }

  func flush() {
    exchange.send(Array(output.utf8))
    output = ""
  }

  /// Queues that events are missing: so many, or nobody knows.
  func sendGap(id: String, missed: UInt64?) {
    send(id: id, "gap", ["event": "gap", "missed": .optional(missed)])
  }

  /// A comment, which clients ignore.
  func beat() { exchange.send(Array(": \n\n".utf8)) }

  func end() { exchange.endStream() }
}
