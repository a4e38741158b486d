import PushModel

/// One rule that a request has to keep.
protocol RequestPolicy {
  /// Why the request breaks the rule, or nil. What the rule read out of the request it leaves in the context.
  func refusal(_ context: RequestContext) -> Refusal?
}

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

/// A broken rule.
struct Refusal: Error {
  var rejection: Rejection
  var explanation: Explanation
  var goneAt: Timestamp?

  init(_ rejection: Rejection, rule: Phrase, expected: Phrase, got: Phrase, goneAt: Timestamp? = nil) {
    self.init(rejection, Explanation(rule: rule, expected: expected, got: got), goneAt: goneAt)
  }

  init(_ rejection: Rejection, _ explanation: Explanation, goneAt: Timestamp? = nil) {
    (self.rejection, self.explanation, self.goneAt) = (rejection, explanation, goneAt)
  }
}

extension Refusal {
  /// The answer should no rule have read what the request needs. No list of rules lets that happen.
  static var unread: Refusal {
    Refusal(
      .internalServerError, rule: "order of checks", expected: "every part read", got: "a part left unread")
  }
}
