/// Reads server-sent events from pieces cut anywhere.
struct EventStreamReader {
  struct Event: Equatable {
    var name = ""
    var data = ""
    /// For people.
    var text: String { "\(name)  \(data)" }
  }

  private var held: [UInt8] = []
  private var current = Event()

  mutating func take(_ piece: [UInt8]) -> [Event] {
    held += piece
    var events: [Event] = []
    while let end = held.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: held[..<end], as: UTF8.self)
      held.removeFirst(end + 1)
      if let event = take(line: line) { events.append(event) }
    }
    return events
  }

  /// A line of the stream; an empty one completes an event.
  private mutating func take(line: String) -> Event? {
    if line.isEmpty {
      defer { current = Event() }
      return current.data.isEmpty ? nil : current
    }
    if line.hasPrefix("event: ") { current.name = String(line.dropFirst(7)) }
    if line.hasPrefix("data: ") { current.data += line.dropFirst(6) }
    return nil
  }
}
