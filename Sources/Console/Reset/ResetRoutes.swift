import Broker
import PushModel
import Transport

/// What can be reset (`Documentation/console-api.md`), in the order in which it is done.
package enum ResetPart: String, CaseIterable {
  case faults, clock, feedback, store, channels, devices, notifications
}

/// What `POST /api/v1/reset` takes.
struct ResetRequest: JSONDocument {
  /// All, if it names none.
  var parts: [ResetPart] = []

  static let form = JSONForm<ResetRequest>([JSONField("what", .list(of: .word), \.parts)])
}

extension Console {
  /// `POST /api/v1/reset`: the parts named, or all. Doing it twice is the same as once.
  func reset(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    var asked = ResetRequest()
    try ResetRequest.form.read(request.object(), into: &asked)
    let parts = Set(asked.parts.isEmpty ? ResetPart.allCases : asked.parts)
    for part in ResetPart.allCases where parts.contains(part) { reset(part) }
    publish("reset", [("what", .array(parts.map(\.rawValue).sorted().map(JSONValue.string)))])
    return HTTPResponse(
      json: ["reset": .array(ResetPart.allCases.filter(parts.contains).map { .string($0.rawValue) })])
  }

  private func reset(_ part: ResetPart) {
    let now = context.now()
    switch part {
    case .faults: context.faults?.removeAll()
    case .clock: context.clock?.reset()
    case .feedback:
      broker.clearFeedback(broker.allFeedback.filter { broker.owns(broker.registry[$0].zone) })
      broker.clearForeignFeedback(broker.foreignFeedback.entries.map(\.id))
    case .store: broker.dropKeptMessages(now: now)
    case .channels: broker.channels.deleteAll()
    case .devices:
      if let orders = context.orders { orders.forgetDevices() } else { broker.forgetDevices(now: now) }
      context.phones.forgetAll()
    case .notifications:
      broker.journal.clear()
      context.phones.forgetLogs()
    }
  }
}
