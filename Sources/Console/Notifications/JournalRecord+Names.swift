import Broker
import PushModel

/// A record refers to rows by index; these are the names behind them.
extension JournalRecord {
  func topicLabel(_ broker: Broker) -> String? {
    guard topic >= 0, Int(topic) < broker.registry.topics.count else { return nil }
    return broker.registry.topics[Int(topic)].label
  }

  func udid(_ broker: Broker) -> UDID? {
    guard registration >= 0, Int(registration) < broker.registry.registrationCount else { return nil }
    return broker.registry.devices[Int(broker.registry[registration: registration].device)].udid
  }

  /// HTTP status of the verdict.
  var status: Int { rejection?.status ?? 200 }
}
