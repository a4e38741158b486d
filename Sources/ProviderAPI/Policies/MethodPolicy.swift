import PushModel

/// Pushes and broadcasts are POST (`Documentation/provider-api.md#order-of-checks` step 1).
struct MethodPolicy: RequestPolicy {
  func refusal(_ context: RequestContext) -> Refusal? {
    let method = context.message[.method]
    guard method.isSpelled("POST") else {
      return Refusal(
        .methodNotAllowed, rule: Rule.method, expected: "POST", got: .quoted(method))
    }
    return nil
  }
}
