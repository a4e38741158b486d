import PushModel

/// The path names a device token that is good for the topic here and now
/// (`Documentation/provider-api.md#order-of-checks` step 6).
struct DeviceTokenPolicy: RequestPolicy {
  let directory: any DeviceDirectory

  func refusal(_ context: RequestContext) -> Refusal? {
    let digits = context.pathTail
    guard !digits.isEmpty else {
      return Refusal(
        .missingDeviceToken, rule: Rule.deviceToken, expected: "a token behind /3/device/", got: "none")
    }
    guard let token = DeviceToken(hexDigits: digits) else {
      return Refusal(
        .badDeviceToken, rule: Rule.deviceToken, expected: "\(2 * DeviceToken.byteCount) hexadecimal digits",
        got: "\(digits.count) characters \(Phrase.quoted(digits))")
    }
    context.token = token
    guard let topic = context.topic else { return nil }
    let standing = directory.standing(
      of: token, topic: topic.handle, environment: context.environment, now: context.now)
    if case .active(let row) = standing {
      context.registration = row
      return nil
    }
    return Self.refusal(standing, topic.topic, context.environment)
  }

  private static func refusal(
    _ standing: DeviceTokenStanding, _ topic: Topic, _ environment: Environment
  ) -> Refusal? {
    let expected: Phrase = "a token of \(topic.name) in \(environment.name)"
    return switch standing {
    case .active: nil
    case .unknown:
      Refusal(.badDeviceToken, rule: Rule.deviceToken, expected: expected, got: "one that was never issued")
    case .otherEnvironment:
      Refusal(
        .badDeviceToken, rule: Rule.deviceToken, expected: expected,
        got: "one of \(environment.other.name), whose host is \(environment.other.host(of: "api"))")
    case .unregistered(let since):
      Refusal(
        .unregistered, rule: Rule.deviceToken, expected: expected,
        got: "one whose app or Live Activity was reported gone at \(since)", goneAt: since)
    case .expired(let since):
      Refusal(
        .expiredToken, rule: Rule.deviceToken, expected: expected, got: "one that expired at \(since)",
        goneAt: since)
    case .otherTopic:
      Refusal(
        .deviceTokenNotForTopic, rule: Rule.deviceToken, expected: expected, got: "one of another topic")
    }
  }
}
