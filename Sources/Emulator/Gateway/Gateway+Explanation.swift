import Broker
import LegacyWire
import PushModel

extension Gateway {
  /// Why a frame was refused, with what the token map says of its token.
  @inline(never)
  func detail(_ rejection: Rejection, _ notification: LegacyNotification, _ provider: GatewayProvider)
    -> NotificationDetail
  {
    guard rejection == .badDeviceToken else { return NotificationDetail(rejection, notification, limits) }
    let (expected, got) = unknown(notification, provider)
    return NotificationDetail(rejection, expected: expected, got: got)
  }

  /// What the token is, if not one of this provider's.
  private func unknown(_ notification: LegacyNotification, _ provider: GatewayProvider) -> (Phrase, Phrase) {
    let topic = provider.topic.map { broker.registry[$0].label } ?? "no topic"
    let expected: Phrase = "a token of \(topic) in \(provider.environment.name)"
    guard let token = notification.token.flatMap({ DeviceToken($0) }), let row = broker.registry.find(token)
    else { return (expected, "one that was never issued") }
    let registration = broker.registry[row]
    let label = broker.registry[registration.topic].label
    return (expected, "one of \(label) in \(registration.environment.name)")
  }
}
