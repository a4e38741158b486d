import Broker
import PushModel

/// A delivery as hooks are told of it (`Documentation/hooks.md`): the device, and the notification as the API shows it.
public enum DeliveryDocument {
  /// As JSON in one line; nil if the notification has left the history.
  public static func bytes(_ event: BrokerEvent, _ broker: Broker) -> [UInt8]? {
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
