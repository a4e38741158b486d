/// A word after the flags that has no name of its own: `replay FILE`.
struct Argument: Sendable {
  let placeholder: String
  let expectation: String
  let completion: CompletionHint
  let help: String
  private(set) var isOptional = false
  let accepts: @Sendable (String) -> Bool
  /// Whether further words may follow; only the last argument can.
  let isRepeatable: Bool

  init<Value>(_ kind: ValueKind<Value>, _ help: String, isRepeatable: Bool = false) {
    placeholder = kind.placeholder + (isRepeatable ? "…" : "")
    (expectation, completion, self.isRepeatable) = (kind.expectation, kind.completion, isRepeatable)
    self.help = help
    accepts = { kind.parse($0) != nil }
  }

  /// The same argument, which may be left out: it is the first to be taken for absent when there are too few words.
  var optional: Argument {
    var copy = self
    copy.isOptional = true
    return copy
  }

  /// As the usage line shows it.
  var usage: String { isOptional ? "[\(placeholder)]" : placeholder }
}
