import PushModel
import Transport

/// `tail`: the event stream of a running emulator, one line an event.
enum TailCommand {
  private static let since = Flag("since", .text("ID"), "begin after this event")
  static let flags: [any FlagDescription] = [
    CommonFlags.json, since, CommonFlags.access, CommonFlags.portsFile,
  ]

  static func run(_ settings: Settings) throws -> ExitStatus {
    let emulator = try RunningEmulator(settings)
    let address = try emulator.address("console")
    let target = "/api/v1/events" + (settings[since].map { "?since=\($0)" } ?? "")
    var reader = EventStreamReader()
    let isJSON = settings.isOn(CommonFlags.json)
    let answer = try RunningEmulator.reaching {
      try HTTP1Client(address, timeout: Int64.max).stream(target, fields: emulator.credentials) { piece in
        for event in reader.take(piece) {
          guard try Output.line(isJSON ? event.data : EventLine.text(event)) else { return false }
        }
        return true
      }
    }
    guard answer.status == 200 else {
      throw RunningEmulator.refused(answer)
    }
    return .success
  }
}
