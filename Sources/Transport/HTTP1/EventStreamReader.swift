/// Reads server-sent events from pieces cut anywhere.
public struct EventStreamReader {
  public struct Event: Equatable, Sendable {
    public var id: String
    public var name: String
    public var data: String

    public init(id: String = "", name: String = "", data: String = "") {
      (self.id, self.name, self.data) = (id, name, data)
    }
  }

  private var held: [UInt8] = []
  private var current = Event()

  public init() {}

  public mutating func take(_ piece: [UInt8]) -> [Event] {
    held += piece
    var events: [Event] = []
    var start = 0
    while let end = held[start...].firstIndex(of: UInt8(ascii: "\n")) {
      if let event = take(line: String(decoding: held[start..<end], as: UTF8.self)) { events.append(event) }
      start = end + 1
    }
    held.removeFirst(start)
    return events
  }

  /// Bytes of the event that is not whole yet.
  public var heldBytes: Int { held.count + current.data.utf8.count }

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
    case "id": current.id = String(value)
    case "event": current.name = String(value)
    case "data": current.data += (current.data.isEmpty ? "" : "\n") + value
    default: break
    }
    return nil
  }
}
