import PushModel

/// Pushes and broadcasts are POST (D.6 step 1).
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
