import Basics
import Testing
import Transport

/// Who reads a stream of the console, and writes down its events.
final class StreamReader {
  private let socket: RawSocket
  private let harness: EmulatorHarness

  init(_ harness: EmulatorHarness, _ target: String) throws {
    self.harness = harness
    socket = try harness.beginStream(target)
  }

  /// What has come so far. Chunk sizes stand in lines of their own, which no field looks like.
  var text: String { socket.text }

  var status: Int? { text.split(separator: " ").dropFirst().first.flatMap { Int($0) } }

  var events: [EventStreamReader.Event] {
    guard let body = text.split(separator: "\r\n\r\n", maxSplits: 1).dropFirst().first else { return [] }
    var reader = EventStreamReader()
    return reader.take(Array(body.replacing("\r\n", with: "\n").utf8))
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
    let data = try #require(events.first?.data, sourceLocation: sourceLocation)
    let tokens = JSONReader.read(Array(data.utf8))?.member("tokens")
    guard case .array(let rows)? = tokens else { throw CancellationError() }
    return try #require(
      rows.first { $0.string("topic") == topic }?.string("token"), sourceLocation: sourceLocation)
  }

  func waitForEnd(sourceLocation: SourceLocation = #_sourceLocation) {
    _ = harness.readToEnd(socket, until: "the stream ends", sourceLocation: sourceLocation)
  }
}

extension EventStreamReader.Event {
  /// A member of the data, as text.
  subscript(member: String) -> String? {
    JSONReader.read(Array(data.utf8))?.member(member).map {
      if case .string(let text) = $0 { text } else { $0.text }
    }
  }
}

extension EmulatorHarness {
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
