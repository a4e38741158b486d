import PushModel

/// `apns-collapse-id` has at most 64 bytes (`Documentation/provider-api.md#order-of-checks` step 4).
struct CollapseIDPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    guard let value = context.message[.apnsCollapseId] else { return nil }
    guard value.count <= Limits.collapseId else {
      return Refusal(
        .badCollapseId, rule: Rule.collapseID, expected: "at most \(Limits.collapseId) bytes",
        got: "\(value.count) bytes")
    }
    context.collapseID = String(decoding: value, as: UTF8.self)
    return nil
  }
}
