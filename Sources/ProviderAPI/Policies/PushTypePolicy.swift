import PushModel

/// `apns-push-type`, if given, is one of `Documentation/provider-api.md#push-types`
/// (`Documentation/provider-api.md#order-of-checks` step 4).
struct PushTypePolicy: RequestPolicy {
  private static let names = PushType.allCases.map(\.name).joined(separator: ", ")

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsPushType] else { return nil }
    if value.isSpelled("alert") {
      context.pushType = .alert
      return nil
    }
    context.pushType = PushType(name: String(decoding: value, as: UTF8.self))
    guard context.pushType == nil else { return nil }
    return Refusal(
      .invalidPushType, rule: Rule.pushType, expected: "one of \(Self.names)",
      got: .quoted(value))
  }
}
