import Broker
import PushModel

/// Events as watchers see them. Each names its kind and its time, so that a line of it stands alone.
struct EventDocument {
  let broker: Broker

  /// Name and document of an event; nil if what it is about is gone.
  func describe(_ event: BrokerEvent) -> (String, JSONValue)? {
    switch event.kind {
    case .notification: notification(event)
    case .delivery: delivery(event)
    case .device: device(event)
    case .token: token(event)
    // What phones tell is told in full by whoever hears them.
    case .phone, .other: nil
    }
  }

  static func object(_ name: String, _ at: Timestamp, _ members: [(String, JSONValue)]) -> JSONValue {
    .object([("event", .string(name)), ("at", .string(at.rfc3339))] + members)
  }

  private func notification(_ event: BrokerEvent) -> (String, JSONValue)? {
    guard let record = broker.journal[event.subject] else { return nil }
    let summary = NotificationDocument(record, broker).json
    return ("notification", Self.object("notification", event.at, [("notification", summary)]))
  }

  private func delivery(_ event: BrokerEvent) -> (String, JSONValue)? {
    var members: [(String, JSONValue)] = [
      ("id", .integer(Int64(clamping: event.subject))), ("state", .string(event.state.name)),
    ]
    if let record = broker.journal[event.subject] {
      members.append(("topic", .optional(record.topicLabel(broker))))
      members.append(("token", .string(Hex.encode(record.presentedToken))))
      members.append(("udid", .optional(record.udid(broker)?.text)))
    }
    return ("delivery", Self.object("delivery", event.at, members))
  }

  private func device(_ event: BrokerEvent) -> (String, JSONValue)? {
    let id = DeviceID(Int(clamping: event.subject))
    guard broker.registry.contains(id) else { return nil }
    let device = broker.registry[id]
    return (
      "device",
      Self.object(
        "device", event.at,
        [
          ("udid", .string(device.udid.text)), ("change", .string("\(event.change)")),
          ("environment", .string(event.environment.name)), ("online", .bool(device.isOnline)),
        ])
    )
  }

  private func token(_ event: BrokerEvent) -> (String, JSONValue)? {
    let id = RegistrationID(Int(clamping: event.subject))
    guard broker.registry.contains(id) else { return nil }
    let row = TokenDocument(id, broker.registry).json
    return (
      "token",
      Self.object("token", event.at, [("change", .string("\(event.change)")), ("row", row)])
    )
  }
}
