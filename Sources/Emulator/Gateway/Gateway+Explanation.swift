import Broker
import LegacyWire
import ProviderAPI
import PushModel

/// Why a frame was refused, for people: the rule, what it asks for, what came. The protocol itself tells a status alone.
extension Gateway {
  @inline(never)
  func detail(_ rejection: Rejection, _ notification: LegacyNotification, _ provider: GatewayProvider)
    -> NotificationDetail
  {
    let (expected, got) = words(rejection, notification, provider)
    let rule = "status \(rejection.legacyStatus) (A.3)"
    return NotificationDetail(explanation: Explanation(rule: rule, expected: expected, got: got).text)
  }

  private func words(
    _ rejection: Rejection, _ notification: LegacyNotification, _ provider: GatewayProvider
  ) -> (expected: String, got: String) {
    let lengths = "\(limits.tokenLengths.lowerBound) to \(limits.tokenLengths.upperBound) bytes"
    let token = Self.size(notification.token)
    let payload = Self.size(notification.payload)
    switch rejection {
    case .missingTopic: return ("a certificate that names a topic", "one that names none")
    case .missingDeviceToken: return ("a device token of \(lengths)", token)
    case .invalidTokenSize: return ("a device token of \(lengths)", token)
    case .payloadEmpty: return ("a payload of 1 to \(limits.payload) bytes", payload)
    case .payloadTooLarge: return ("a payload of at most \(limits.payload) bytes", payload)
    case .badDeviceToken: return unknown(notification, provider)
    default: return ("a good notification", rejection.sentence)
    }
  }

  private static func size(_ part: UnsafeRawBufferPointer?) -> String {
    guard let part else { return "none" }
    return part.count == 1 ? "1 byte" : "\(part.count) bytes"
  }

  /// What the token is, if not one of this provider's.
  private func unknown(_ notification: LegacyNotification, _ provider: GatewayProvider) -> (String, String) {
    let topic = provider.topic < 0 ? "no topic" : broker.registry.topics[Int(provider.topic)].label
    let expected = "a token of \(topic) in \(provider.environment.name)"
    guard let token = notification.token.flatMap({ DeviceToken($0) }), let row = broker.registry.find(token)
    else { return (expected, "one that was never issued") }
    let registration = broker.registry[registration: row]
    let label = broker.registry.topics[Int(registration.topic)].label
    return (expected, "one of \(label) in \(registration.environment.name)")
  }
}
