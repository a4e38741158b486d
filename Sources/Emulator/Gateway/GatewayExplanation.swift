import Basics
import Broker
import Faults
import LegacyWire
import PushModel

extension ProviderFrames {
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
    let token = Array(notification.token.orNone)
    guard let known = DeviceToken(bytes: token), let row = broker.registry.find(known) else {
      return (expected, MagicToken.neverIssued(token))
    }
    let registration = broker.registry[row]
    let label = broker.registry[registration.topic].label
    let environment = registration.environment
    guard environment != provider.environment else {
      return (expected, "one of \(label) in \(environment.name)")
    }
    return (
      expected,
      "one of \(label) in \(environment.name), whose host is \(environment.host(of: "gateway"))"
    )
  }
}

/// Why a frame was refused, for people: the rule, what it asks for, what came. The protocol itself tells a status alone.
extension NotificationDetail {
  convenience init(_ rejection: Rejection, expected: Phrase, got: Phrase) {
    self.init(
      Explanation(
        rule: "status \(rejection.legacyStatus) (Apple: \(ApplePage.binaryInterface.rawValue))",
        expected: expected, got: got))
  }

  /// What can be said without the token map.
  @inline(never)
  convenience init(_ rejection: Rejection, _ notification: LegacyNotification, _ limits: LegacyLimits) {
    let (expected, got) = Self.words(rejection, notification, limits)
    self.init(rejection, expected: expected, got: got)
  }

  private static func words(
    _ rejection: Rejection, _ notification: LegacyNotification, _ limits: LegacyLimits
  ) -> (expected: Phrase, got: Phrase) {
    let lengths: Phrase = "\(limits.tokenLengths.lowerBound) to \(limits.tokenLengths.upperBound) bytes"
    let token = size(notification.token)
    let payload = size(notification.payload)
    switch rejection {
    case .missingTopic: return ("a certificate that names a topic", "one that names none")
    case .missingDeviceToken, .invalidTokenSize: return ("a device token of \(lengths)", token)
    case .payloadEmpty: return ("a payload of 1 to \(limits.payload) bytes", payload)
    case .payloadTooLarge: return ("a payload of at most \(limits.payload) bytes", payload)
    default: return ("a valid notification", Phrase(rejection.sentence))
    }
  }

  private static func size(_ part: Span<UInt8>?) -> Phrase {
    guard let part else { return "none" }
    return part.count == 1 ? "1 byte" : "\(part.count) bytes"
  }
}
