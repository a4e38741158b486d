import Basics
import Broker
import PushModel

/// Events as watchers see them. Each names its kind and its time, so that a line of it stands alone.
package struct EventDocument {
  let broker: Broker

  /// Name and document of an event; nil if what it is about is gone.
  func describe(_ event: BrokerEvent) -> (String, JSONValue)? {
    let (name, members): (String, [(String, JSONValue)]?) =
      switch event.kind {
      case .notification: ("notification", notification(event))
      case .delivery: ("delivery", delivery(event))
      case .device: ("device", device(event))
      case .token: ("token", token(event))
      // What phones tell is told in full by whoever hears them.
      case .phone, .other: ("", nil)
      }
    return members.map { (name, Self.object(name, event.at, $0)) }
  }

  package static func object(_ name: String, _ at: Timestamp, _ members: [(String, JSONValue)]) -> JSONValue {
    .object([("event", .string(name)), ("at", .string(at.rfc3339))] + members)
  }

  private func notification(_ event: BrokerEvent) -> [(String, JSONValue)]? {
    broker.journal[event.subject].map { [("notification", NotificationDocument($0, broker).json)] }
  }

  private func delivery(_ event: BrokerEvent) -> [(String, JSONValue)] {
    let members: [(String, JSONValue)] = [
      ("id", .integer(Int64(clamping: event.subject))), ("state", .string(event.state.name)),
    ]
    guard let record = broker.journal[event.subject] else { return members }
    return members + [
      ("topic", .optional(record.topicLabel(broker))),
      ("token", .string(Hex.encode(record.presentedToken))),
      ("udid", .optional(record.udid(broker)?.text)),
    ]
  }

  private func device(_ event: BrokerEvent) -> [(String, JSONValue)]? {
    let id = DeviceID(Int(clamping: event.subject))
    guard broker.registry.contains(id) else { return nil }
    let device = broker.registry[id]
    return [
      ("udid", .string(device.udid.text)), ("change", .string("\(event.change)")),
      ("environment", .string(event.environment.name)), ("online", .bool(device.isOnline)),
    ]
  }

  private func token(_ event: BrokerEvent) -> [(String, JSONValue)]? {
    let id = RegistrationID(Int(clamping: event.subject))
    guard broker.registry.contains(id) else { return nil }
    return [("change", .string("\(event.change)")), ("row", TokenDocument(id, broker.registry).json)]
  }
}

/// A delivery as hooks are told of it (`Documentation/hooks.md`): the device, and the notification as the API shows it.
package enum DeliveryDocument {
  /// As JSON in one line; nil if the notification has left the history.
  package static func bytes(_ event: BrokerEvent, _ broker: Broker) -> [UInt8]? {
    guard let record = broker.journal[event.subject] else { return nil }
    let document = EventDocument.object(
      "delivered", event.at,
      [
        ("udid", .optional(record.udid(broker)?.text)), ("topic", .optional(record.topicLabel(broker))),
        ("token", .string(Hex.encode(record.presentedToken))),
        ("environment", .string(record.environment.name)),
        ("notification", NotificationDocument(record, broker).json),
      ])
    return document.encoded + [UInt8(ascii: "\n")]
  }
}
