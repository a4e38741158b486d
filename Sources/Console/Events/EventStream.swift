import Basics
import ConsoleAnswers
import Transport

/// One client of the event stream, in the format of server-sent events.
package final class EventStream {
  private let exchange: HTTPExchange
  private var output = ""
  /// Number of the next event to send.
  package var next: UInt64
  /// Number of the first event that it is not yet to be sent.
  package var goal: UInt64

  package init(_ exchange: HTTPExchange, next: UInt64) {
    self.exchange = exchange
    (self.next, goal) = (next, next)
  }

  package var isOpen: Bool { exchange.isOpen }
  package var hasRoom: Bool { exchange.queuedBytes < EventPump.unreadLimit }

  /// Sends the head, and how long a browser waits before it comes back.
  package func start() {
    exchange.startStream(.eventStream(Array("retry: 1000\n\n".utf8)))
  }

  /// Queues one event.
  package func send(id: String, _ name: String, _ json: JSONValue) {
    send(ServerSentEvent.line(id: id, name, json))
  }

  package func send(_ line: String) { output += line }

  package func flush() {
    guard !output.isEmpty else { return }
    exchange.send(Array(output.utf8))
    output = ""
  }

  /// Queues that events are missing: so many, or nobody knows.
  package func sendGap(id: String, missed: UInt64?) {
    send(id: id, "gap", ["event": "gap", "missed": .optional(missed)])
  }

  /// A comment, which clients ignore.
  package func beat() { exchange.send(ServerSentEvent.comment("")) }

  package func end() { exchange.endStream() }
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
package struct EventPosition: Equatable {
  /// Names the run of the emulator that numbered the event; nil if the client gave only a number.
  package var boot: String?
  package var number: UInt64

  /// The last event that a client has seen, which it names in the query or, as browsers do when they come back, in a header field; nil
  /// for one that names none.
  package static func asked(by request: ConsoleRequest) throws -> EventPosition? {
    let since = try request.query { $0.text("since") }
    guard let text = request.http.field("last-event-id") ?? since else { return nil }
    guard let position = EventPosition(text) else {
      throw ConsoleError.bad("since", expected: "the id of an event", got: text)
    }
    return position
  }

  /// Reads `boot-number` or a number; nil for anything else.
  package init?(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let last = parts.last, let number = UInt64(last), number < UInt64(Int64.max) else { return nil }
    self.number = number
    boot = parts.count == 2 ? String(parts[0]) : nil
  }
}

/// The stream of events.
package struct EventGroup: RouteGroup {
  private let pump: EventPump

  package init(_ context: ConsoleContext) { pump = EventPump(context.events, context) }

  /// How many clients watch.
  package var clientCount: Int { pump.streamCount }

  package func shutDown() { pump.endAll() }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/events",
        "Everything that happens, as server-sent events. Ids are `boot-number`; the first event of each stream is `boot`",
        .exchange { [pump] in try pump.answer($0, $1) }
      )
      .at(.merged(.events)).query([.eventSince]).stream.refuses(503)
      .answers(200, "A stream without end", .text(APIExamples.events), contentType: "text/event-stream")
    ]
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
  package static func line(id: String? = nil, _ name: String, _ json: JSONValue) -> String {
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
