/// What the text of a flag or argument may be, and how it becomes a value.
struct ValueKind<Value: Sendable>: Sendable {
  /// How help names the value: `PORT`, `FILE`; a list of words shows itself. Empty for a flag without one.
  let placeholder: String
  /// Ends the sentence "--flag expects …".
  let expectation: String
  /// What a shell may offer to complete it.
  let completion: CompletionHint
  /// The value, or nil for a text that is not one.
  let parse: @Sendable (String) -> Value?

  init(
    _ placeholder: String, expects expectation: String, completion: CompletionHint = .none,
    parse: @escaping @Sendable (String) -> Value?
  ) {
    (self.placeholder, self.expectation, self.completion) = (placeholder, expectation, completion)
    self.parse = parse
  }
}
