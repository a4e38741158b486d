import Broker
import PushModel

/// A record refers to rows by index; these are the names behind them.
extension JournalRecord {
  /// The topic pushed to, by its name where that is known; nil if none is.
  public func topicLabel(_ broker: Broker) -> String? {
    guard let topic, broker.registry.contains(topic) else { return nil }
    return broker.registry[topic].label
  }

  /// The device that the token is of; nil if the token is unknown.
  public func udid(_ broker: Broker) -> UDID? {
    guard let registration, broker.registry.contains(registration) else { return nil }
    return broker.registry[broker.registry[registration].device].udid
  }

  /// HTTP status of the verdict; nil if a fault left the provider without one.
  func status(_ broker: Broker) -> Int? { isAnswered(broker) ? rejection?.status ?? 200 : nil }

  /// Reason of the verdict; nil without one.
  func reason(_ broker: Broker) -> String? { isAnswered(broker) ? rejection?.reason : nil }

  private func isAnswered(_ broker: Broker) -> Bool {
    rejection == nil || broker.journal.detail(id)?.fault?.isAnswered != false
  }
}
