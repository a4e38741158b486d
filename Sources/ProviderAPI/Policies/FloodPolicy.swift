import PushModel

/// The device has not had too many pushes in a row (`Documentation/provider-api.md#order-of-checks` step 8).
struct FloodPolicy: RequestPolicy {
  let directory: any DeviceDirectory

  func refusal(_ context: RequestContext) -> Refusal? {
    guard let token = context.token, directory.isFlooded(token) else { return nil }
    return Refusal(
      .tooManyRequests, rule: Rule.flood, expected: "fewer in a row to this token",
      got: "one too many")
  }
}
