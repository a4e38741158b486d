import Basics
import Testing

/// Who reads a stream of the console, and writes down its events.
final class StreamReader {
  struct Event {
    var id: String?
    var name = ""
    /// Its lines.
    var data: [String] = []

    /// A member of the data, as text.
    subscript(member: String) -> String? {
      JSONReader.read(Array(data.joined(separator: "\n").utf8))?.member(member).map {
        if case .string(let text) = $0 { text } else { $0.text }
      }
    }
  }

  private let socket: RawSocket
  private let harness: EmulatorHarness
  private var bytes: [UInt8] = []
  private(set) var hasEnded = false

  init(_ harness: EmulatorHarness, _ target: String) throws {
    self.harness = harness
    socket = try RawSocket(harness.address("console"))
    socket.send(Array("GET \(target) HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8))
  }

  /// What has come so far. Chunk sizes stand in lines of their own, which no field looks like.
  var text: String {
    hasEnded = socket.receive(into: &bytes) || hasEnded
    return String(decoding: bytes, as: UTF8.self)
  }

  var status: Int? { text.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

  var events: [Event] {
    guard let body = text.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first else { return [] }
    var (events, event) = ([Event](), Event())
    for line in body.replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
      if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
      if line.hasPrefix("data: ") { event.data.append(String(line.dropFirst(6))) }
      if line.isEmpty, !event.name.isEmpty {
        events.append(event)
        event = Event()
      }
    }
    return events
  }

  /// What the notifications say that came.
  var pushes: [String] { events.filter { $0.name == "push" }.compactMap { $0["payload"] } }

  func wait(
    for count: Int, _ name: String = "push", sourceLocation: SourceLocation = #_sourceLocation
  ) {
    harness.turn(until: "\(count) of \(name) came", sourceLocation: sourceLocation) {
      events.count { $0.name == name } >= count
    }
  }

  /// Its token for an app, as the first event tells.
  func token(of topic: String = Site.topic, sourceLocation: SourceLocation = #_sourceLocation) throws
    -> String
  {
    wait(for: 1, "registered", sourceLocation: sourceLocation)
    let data = try #require(events.first?.data.first, sourceLocation: sourceLocation)
    let tokens = JSONReader.read(Array(data.utf8))?.member("tokens")
    guard case .array(let rows)? = tokens else { throw CancellationError() }
    return try #require(
      rows.first { $0.string("topic") == topic }?.string("token"), sourceLocation: sourceLocation)
  }

  func waitForEnd(sourceLocation: SourceLocation = #_sourceLocation) {
    harness.turn(until: "the stream ends", sourceLocation: sourceLocation) {
      _ = text
      return hasEnded
    }
  }
}

extension EmulatorHarness {
  /// Asks the console; answers what came until the end.
  func ask(_ method: String, _ path: String, _ body: String = "", fields: String = "") throws -> String {
    let socket = try RawSocket(try address("console"))
    let type = body.isEmpty ? "" : "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n"
    socket.send(
      Array(
        "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\(fields)\(type)\r\n\(body)"
          .utf8))
    var received: [UInt8] = []
    turn(until: "\(path) is answered") { socket.receive(into: &received) }
    return String(decoding: received, as: UTF8.self)
  }

  /// A stream, once its device is there.
  func stream(
    _ udid: String = "phone-1", _ query: String = "?topic=\(Site.topic)",
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> StreamReader {
    let reader = try StreamReader(self, "/api/v1/devices/\(udid)/stream\(query)")
    reader.wait(for: 1, "registered", sourceLocation: sourceLocation)
    return reader
  }
}
