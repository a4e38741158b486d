/// Reads server-sent events from pieces cut anywhere.
package struct EventStreamReader {
  package struct Event: Equatable {
    package var name: String
    package var data: String

    package init(name: String = "", data: String = "") { (self.name, self.data) = (name, data) }
  }

  private var held: [UInt8] = []
  private var current = Event()

  package init() {}

  package mutating func take(_ piece: [UInt8]) -> [Event] {
    held += piece
    var events: [Event] = []
    while let end = held.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: held[..<end], as: UTF8.self)
      held.removeFirst(end + 1)
      if let event = take(line: line) { events.append(event) }
    }
    return events
  }

  /// A line of the stream; an empty one completes an event, one that begins with a colon is a comment.
  private mutating func take(line: String) -> Event? {
    if line.isEmpty {
      defer { current = Event() }
      return current.data.isEmpty ? nil : current
    }
    let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let value = parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]
    switch parts[0] {
    case "event": current.name = String(value)
    case "data": current.data += (current.data.isEmpty ? "" : "\n") + value
    default: break
    }
    return nil
  }
}
