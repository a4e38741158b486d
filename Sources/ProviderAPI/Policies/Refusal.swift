import PushModel

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
