/// Rules in the order in which they are applied; the first broken one is the answer.
struct PolicyList {
  var policies: [any RequestPolicy]

  func refusal(_ context: RequestContext) -> Refusal? {
    // By index, because a loop variable would be a copy of each policy.
    for index in policies.indices {
      if let refusal = policies[index].refusal(context) { return refusal }
    }
    return nil
  }

  /// Throws the first broken rule.
  func enforce(_ context: RequestContext) throws(Refusal) {
    if let refusal = refusal(context) { throw refusal }
  }
}
