import PushModel

/// A channel that stores nothing takes only broadcasts that are not to be stored
/// (`Documentation/provider-api.md#broadcast`).
struct UnstoredExpirationPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    guard context.channel?.storage == ChannelStorage.none, let expiration = context.expiration,
      expiration != 0
    else { return nil }
    return Refusal(
      .badExpirationDate, rule: Rule.unstoredExpiration, expected: "0",
      got: "\(expiration)")
  }
}
