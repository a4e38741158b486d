import Broker
import PushModel
import Transport

/// What can be reset (`Documentation/console-api.md`), in the order in which it is done.
enum ResetPart: String, CaseIterable {
  case faults, clock, feedback, store, channels, devices, notifications
}

extension Console {
  /// `POST /api/v1/reset`: the parts named, or all. Doing it twice is the same as once.
  func reset(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    let body = try request.object(allowing: ["what"])
    let parts = try Self.parts(body)
    for part in ResetPart.allCases where parts.contains(part) { reset(part) }
    publish("reset", [("what", .array(parts.map(\.rawValue).sorted().map(JSONValue.string)))])
    return HTTPResponse(
      json: ["reset": .array(ResetPart.allCases.filter(parts.contains).map { .string($0.rawValue) })])
  }

  private static func parts(_ body: JSONObject) throws -> Set<ResetPart> {
    guard let names = try body.strings("what"), !names.isEmpty else { return Set(ResetPart.allCases) }
    return Set(
      try names.map { name in
        guard let part = ResetPart(rawValue: name) else {
          let words = ResetPart.allCases.map(\.rawValue).joined(separator: ", ")
          throw ConsoleError.bad("what", expected: "one of \(words)", got: name)
        }
        return part
      })
  }

  private func reset(_ part: ResetPart) {
    let now = context.now()
    switch part {
    case .faults: context.faults?.removeAll()
    case .clock: context.clock?.reset()
    case .feedback:
      broker.clearFeedback(broker.allFeedback)
      broker.clearForeignFeedback(broker.foreignFeedback.entries.map(\.id))
    case .store: broker.dropKeptMessages(now: now)
    case .channels: broker.channels.deleteAll()
    case .devices: broker.forgetDevices(now: now)
    case .notifications: broker.journal.clear()
    }
  }
}
