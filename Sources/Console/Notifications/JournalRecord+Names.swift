import Broker
import PushModel

/// A record refers to rows by index; these are the names behind them.
extension JournalRecord {
  /// The topic pushed to, by its name where that is known; nil if none is.
  public func topicLabel(_ broker: Broker) -> String? {
    guard topic >= 0, Int(topic) < broker.registry.topics.count else { return nil }
    return broker.registry.topics[Int(topic)].label
  }

  /// The device that the token is of; nil if the token is unknown.
  public func udid(_ broker: Broker) -> UDID? {
    guard registration >= 0, Int(registration) < broker.registry.registrationCount else { return nil }
    return broker.registry.devices[Int(broker.registry[registration: registration].device)].udid
  }

  /// HTTP status of the verdict; nil if a fault left the provider without one.
  func status(_ broker: Broker) -> Int? { isAnswered(broker) ? rejection?.status ?? 200 : nil }

  /// Reason of the verdict; nil without one.
  func reason(_ broker: Broker) -> String? { isAnswered(broker) ? rejection?.reason : nil }

  private func isAnswered(_ broker: Broker) -> Bool {
    rejection == nil || broker.journal.detail(id)?.fault?.isAnswered != false
  }
}
