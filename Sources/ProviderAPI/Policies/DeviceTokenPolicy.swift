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
    guard let token = DeviceToken(hexDigits: digits) ?? directory.token(spelled: digits) else {
      return Refusal(
        .badDeviceToken, rule: Rule.deviceToken, expected: "\(2 * DeviceToken.byteCount) hexadecimal digits",
        got: "\(digits.count) characters \(Phrase.quoted(digits))")
    }
    context.token = token
    guard context.topic != nil else { return nil }
    let standing = directory.standing(
      of: token, topic: context.topic?.handle, environment: context.environment, now: context.now)
    switch standing {
    case .active(let row):
      context.registration = row
      return nil
    case .elsewhere: return nil
    default: return isNotActive(standing, digits, context)
    }
  }

  private func isNotActive(
    _ standing: DeviceTokenStanding, _ digits: UnsafeRawBufferPointer, _ context: RequestContext
  ) -> Refusal? {
    guard let topic = context.topic?.topic else { return nil }
    if standing == .unknown { return isNobodys(digits, topic, context) }
    return refusal(standing, digits, topic, context.environment)
  }

  /// A token that is nobody's may become somebody's, when its push is taken.
  private func isNobodys(_ digits: UnsafeRawBufferPointer, _ topic: Topic, _ context: RequestContext)
    -> Refusal?
  {
    let expected = Self.expected(topic, context.environment)
    switch directory.adoption(of: digits, topic: context.topic?.handle, team: context.grant?.teamID) {
    case .unwanted: return refusal(.unknown, digits, topic, context.environment)
    case .full(let limit):
      return Refusal(
        .badDeviceToken, rule: Rule.deviceToken, expected: expected,
        got:
          "one that was never issued, and \(limit) tokens were registered at their first push, which is the most"
      )
    case .teamIsFull(let limit):
      return Refusal(
        .badDeviceToken, rule: Rule.deviceToken, expected: expected,
        got: "one that was never issued, and the team has brought \(limit) topics, which is the most")
    case .wanted: return nil
    }
  }

  private static func expected(_ topic: Topic, _ environment: Environment) -> Phrase {
    "a token of \(topic.name) in \(environment.name)"
  }

  private func refusal(
    _ standing: DeviceTokenStanding, _ digits: UnsafeRawBufferPointer, _ topic: Topic,
    _ environment: Environment
  ) -> Refusal? {
    let expected = Self.expected(topic, environment)
    return switch standing {
    case .active, .elsewhere: nil
    case .unknown:
      Refusal(.badDeviceToken, rule: Rule.deviceToken, expected: expected, got: directory.unknown(digits))
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
    case .otherTopic(let other):
      Refusal(
        .deviceTokenNotForTopic, rule: Rule.deviceToken, expected: expected,
        got: "one of \(directory.name(of: other))")
    }
  }
}
