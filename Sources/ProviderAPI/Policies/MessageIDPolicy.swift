import PushModel

/// An id of the request's own is a UUID (`Documentation/provider-api.md#request`). It was read before; this is where a
/// bad one is answered (`Documentation/provider-api.md#order-of-checks` step 2).
struct MessageIDPolicy: RequestPolicy {
  let fields: [ProviderField]

  func refusal(_ context: RequestContext) -> Refusal? {
    guard context.ownMessageID == nil else { return nil }
    for field in fields {
      guard let value = context.message[field] else { continue }
      return Refusal(
        .badMessageId, rule: Rule.messageID(field), expected: "a UUID written 8-4-4-4-12",
        got: .quoted(value))
    }
    return nil
  }
}
