import PushModel
import Transport

/// `tail`: the event stream of a running emulator, one line an event.
enum TailCommand {
  private static let since = Flag("since", .text("ID"), "begin after this event")
  static let flags: [any FlagDescription] = [CommonFlags.json, since, CommonFlags.portsFile]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let address = try RunningEmulator(settings).address("console")
    let target = "/api/v1/events" + (settings[since].map { "?since=\($0)" } ?? "")
    var reader = EventStreamReader()
    let isJSON = settings.isOn(CommonFlags.json)
    let answer = try HTTP1Client(address, timeout: Int64.max).stream(target) { piece in
      for event in reader.take(piece) { Output.line(isJSON ? event.data : event.text) }
      return true
    }
    guard answer.status == 200 else {
      throw CommandFailure(
        "the console answered \(answer.status): \(String(decoding: answer.body, as: UTF8.self))")
    }
    return .success
  }
}

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
