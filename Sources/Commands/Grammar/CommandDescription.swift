/// One command of the table: what it takes and what it does.
package struct CommandDescription: Sendable {
  /// One word, or two for a member of a group: `certs push`.
  package let name: String
  let summary: String
  /// A few lines between the usage and the flags: what the flags alone don't tell, or an example.
  let about: String
  /// Its flags as help shows them.
  let groups: [FlagGroup]
  var arguments: [Argument] = []
  /// Whether a foreign command follows after `--`.
  var takesCommand = false
  /// Whether another program carries it out, which has its flags and gets the words behind the command's first as they are.
  private(set) var isElsewhere = false
  let run: @Sendable (Settings) throws -> ExitStatus

  package init(
    _ name: String, _ summary: String, about: String = "", flags: [any FlagDescription] = [],
    groups: [FlagGroup] = [], arguments: [Argument] = [], takesCommand: Bool = false,
    run: @escaping @Sendable (Settings) throws -> ExitStatus
  ) {
    (self.name, self.summary, self.about) = (name, summary, about)
    self.groups = groups.isEmpty ? [FlagGroup("", flags)] : groups
    (self.arguments, self.takesCommand, self.run) = (arguments, takesCommand, run)
  }

  /// One that another program carries out; `run` finds the words in `Settings.foreign`.
  init(
    elsewhere name: String, _ summary: String, about: String,
    run: @escaping @Sendable (Settings) throws -> ExitStatus
  ) {
    self.init(name, summary, about: about, run: run)
    isElsewhere = true
  }

  package var words: [String] { name.split(separator: " ").map(String.init) }

  /// All flags, in the order of the help.
  package var flags: [any FlagDescription] { groups.flatMap(\.flags) }

  func flag(named name: String) -> (any FlagDescription)? { flags.first { $0.name == name } }
}

/// A word after the flags that has no name of its own: `replay FILE`.
package struct Argument: Sendable {
  let placeholder: String
  let expectation: String
  let completion: CompletionHint
  let help: String
  private(set) var isOptional = false
  let accepts: @Sendable (String) -> Bool
  /// Whether further words may follow; only the last argument can.
  let isRepeatable: Bool

  package init<Value>(_ kind: ValueKind<Value>, _ help: String, isRepeatable: Bool = false) {
    placeholder = kind.placeholder + (isRepeatable ? "…" : "")
    (expectation, completion, self.isRepeatable) = (kind.expectation, kind.completion, isRepeatable)
    self.help = help
    accepts = { kind.parse($0) != nil }
  }

  /// The same argument, which may be left out: it is the first to be taken for absent when there are too few words.
  package var optional: Argument {
    var copy = self
    copy.isOptional = true
    return copy
  }

  /// As the usage line shows it.
  var usage: String { isOptional ? "[\(placeholder)]" : placeholder }
}
