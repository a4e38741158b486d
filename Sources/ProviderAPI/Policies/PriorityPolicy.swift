import PushModel

/// `apns-priority` is 10, 5 or 1, and not 10 for a background push (`Documentation/provider-api.md#order-of-checks`
/// step 4).
struct PriorityPolicy: RequestPolicy {
  /// Whether a request must have one (broadcasts, `Documentation/provider-api.md#broadcast`).
  let isRequired: Bool

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsPriority] else {
      return isRequired ? Self.refusal(got: "none") : nil
    }
    guard let priority = Self.read(value) else { return Self.refusal(got: .quoted(value)) }
    context.priority = priority
    if priority == .immediate, context.pushType == .background, context.options.refusesUrgentBackground {
      return Refusal(
        .badPriority, rule: Rule.backgroundPriority, expected: "5", got: "10")
    }
    return nil
  }

  private static func read(_ value: UnsafeRawBufferPointer) -> Priority? {
    if value.isSpelled("10") { return .immediate }
    if value.isSpelled("5") { return .conserving }
    return value.isSpelled("1") ? .low : nil
  }

  private static func refusal(got: Phrase) -> Refusal {
    Refusal(.badPriority, rule: Rule.priority, expected: "10, 5 or 1", got: got)
  }
}
