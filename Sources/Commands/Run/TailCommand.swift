import PushModel
import Transport

/// `tail`: the event stream of a running emulator, one line an event.
enum TailCommand {
  private static let since = Flag("since", .text("ID"), "begin after this event")
  private static let event = Flag(
    "event", ValueKind<EventFilter.Name>.word,
    "events of this kind (else all but boot and connections of the console)"
  ).repeatable
  private static let topic = Flag("topic", .topic, "events about this topic").repeatable
  private static let udid = Flag("udid", .udid, "events about this device").repeatable
  static let flags: [any FlagDescription] = [
    CommonFlags.json, event, topic, udid, since, CommonFlags.access, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let emulator = try RunningEmulator(settings)
    let address = try emulator.address("console")
    let target = "/api/v1/events" + (settings[since].map { "?since=\($0)" } ?? "")
    var reader = EventStreamReader()
    let isJSON = settings.isOn(CommonFlags.json)
    let filter = filter(settings, isJSON: isJSON)
    let isColored = TerminalColor.isWanted()
    let answer = try RunningEmulator.reaching {
      try HTTP1Client(address, timeout: Int64.max).stream(target, fields: emulator.credentials) { piece in
        for event in reader.take(piece) where filter.passes(event) {
          let line = isJSON ? event.data : EventLine.text(event, isColored: isColored)
          guard try Output.line(line) else { return false }
        }
        return true
      }
    }
    guard answer.status == 200 else {
      throw RunningEmulator.refused(answer)
    }
    return .success
  }

  /// A program that reads JSON gets everything unless it asks for less.
  private static func filter(_ settings: Settings, isJSON: Bool) -> EventFilter {
    let names = settings.all(event)
    return EventFilter(
      names: Set(names.isEmpty && isJSON ? EventFilter.Name.allCases : names),
      topics: Set(settings.all(topic).map(\.name)), udids: Set(settings.all(udid).map(\.text)))
  }
}
