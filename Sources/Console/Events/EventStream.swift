import Basics
import Transport

/// One client of the event stream, in the format of server-sent events.
final class EventStream {
  private let exchange: HTTPExchange
  private var output = ""
  /// Number of the next event to send.
  var next: UInt64
  /// Number of the first event that it is not yet to be sent.
  var goal: UInt64

  init(_ exchange: HTTPExchange, next: UInt64) {
    self.exchange = exchange
    (self.next, goal) = (next, next)
  }

  var isOpen: Bool { exchange.isOpen }
  var hasRoom: Bool { exchange.queuedBytes < EventPump.unreadLimit }

  /// Sends the head, and how long a browser waits before it comes back.
  func start() {
    exchange.startStream(.eventStream(Array("retry: 1000\n\n".utf8)))
  }

  /// Queues one event.
  func send(id: String, _ name: String, _ json: JSONValue) { send(ServerSentEvent.line(id: id, name, json)) }

  func send(_ line: String) { output += line }

  func flush() {
    guard !output.isEmpty else { return }
    exchange.send(Array(output.utf8))
    output = ""
  }

  /// Queues that events are missing: so many, or nobody knows.
  func sendGap(id: String, missed: UInt64?) {
    send(id: id, "gap", ["event": "gap", "missed": .optional(missed)])
  }

  /// A comment, which clients ignore.
  func beat() { exchange.send(ServerSentEvent.comment("")) }

  func end() { exchange.endStream() }
}

extension HTTPResponse {
  /// The head of a stream of events, with what comes first.
  package static func eventStream(_ beginning: [UInt8] = []) -> HTTPResponse {
    HTTPResponse(
      status: 200,
      fields: [
        HTTPField("Content-Type", "text/event-stream"), HTTPField("Cache-Control", "no-store"),
        HTTPField("X-Content-Type-Options", "nosniff"),
      ], body: beginning)
  }
}

/// Where a client was: the id of the last event that it got.
struct EventPosition: Equatable {
  /// Names the run of the emulator that numbered the event; nil if the client gave only a number.
  var boot: String?
  var number: UInt64

  /// Reads `boot-number` or a number; nil for anything else.
  init?(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let last = parts.last, let number = UInt64(last), number < UInt64(Int64.max) else { return nil }
    self.number = number
    boot = parts.count == 2 ? String(parts[0]) : nil
  }
}

extension Console {
  /// `GET /api/v1/events`: everything that happens from now on, or since an event that the client names in the query or,
  /// as browsers do when they come back, in a header field.
  func streamEvents(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    let position = try position(request)
    guard request.http.method == "GET" else { return exchange.respond(headOfEvents) }
    if request.http.isOfNode { exchange.connection?.stand(stallTime: Self.nodeStallTime) }
    try eventPump.open(exchange, after: position)
  }

  /// For who asks for the head alone.
  var headOfEvents: HTTPResponse {
    HTTPResponse(status: 200, fields: [HTTPField("Content-Type", "text/event-stream")]).finished
  }

  /// The last event that a client has seen; nil for one that names none.
  func position(_ request: ConsoleRequest) throws -> EventPosition? {
    var query = try request.query()
    let since = query.text("since")
    try query.finish()
    let text = request.http.field("last-event-id") ?? since
    let position = text.flatMap(EventPosition.init)
    guard (position == nil) == (text == nil) else {
      throw ConsoleError.bad("since", expected: "the id of an event", got: text ?? "")
    }
    return position
  }
}

/// Bytes of a stream in the format of server-sent events.
package enum ServerSentEvent {
  /// One event with any data: a `data:` line for each line of it, so that nothing in it can pass for another field. A line ends
  /// with LF, CR or both, as clients have it.
  ///
  ///     ServerSentEvent.bytes("ping", data: Array("a\nb".utf8))  // event: ping, data: a, data: b, and an empty line
  package static func bytes(_ name: String, data: some Collection<UInt8>) -> [UInt8] {
    var bytes = Array("event: \(name)\ndata: ".utf8)
    bytes.reserveCapacity(bytes.count + data.count + 2)
    var isAfterReturn = false
    for byte in data {
      defer { isAfterReturn = byte == carriageReturn }
      switch byte {
      case lineFeed where isAfterReturn: break
      case lineFeed, carriageReturn: bytes.append(contentsOf: nextLine)
      default: bytes.append(byte)
      }
    }
    bytes.append(contentsOf: [lineFeed, lineFeed])
    return bytes
  }

  /// One event whose data is a document; JSON has no line breaks, so one data line holds it.
  static func line(id: String? = nil, _ name: String, _ json: JSONValue) -> String {
    "\(id.map { "id: \($0)\n" } ?? "")event: \(name)\ndata: \(json.text)\n\n"
  }

  /// The same as bytes.
  package static func bytes(id: String? = nil, _ name: String, _ json: JSONValue) -> [UInt8] {
    Array(line(id: id, name, json).utf8)
  }

  /// What clients ignore.
  package static func comment(_ text: String) -> [UInt8] { Array(": \(text)\n\n".utf8) }

  private static let lineFeed: UInt8 = 0x0a
  private static let carriageReturn: UInt8 = 0x0d
  private static let nextLine = Array("\ndata: ".utf8)
}
