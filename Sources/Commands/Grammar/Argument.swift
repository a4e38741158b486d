/// A word after the flags that has no name of its own: `replay FILE`.
struct Argument: Sendable {
  let placeholder: String
  let expectation: String
  let completion: CompletionHint
  let help: String
  private(set) var isOptional = false
  let accepts: @Sendable (String) -> Bool

  init<Value>(_ kind: ValueKind<Value>, _ help: String) {
    (placeholder, expectation, completion) = (kind.placeholder, kind.expectation, kind.completion)
    self.help = help
    accepts = { kind.parse($0) != nil }
  }

  /// The same argument, which may be left out. The last one only.
  var optional: Argument {
    var copy = self
    copy.isOptional = true
    return copy
  }

  /// As the usage line shows it.
  var usage: String { isOptional ? "[\(placeholder)]" : placeholder }
}
