/// One command of the table: what it takes and what it does.
package struct CommandDescription: Sendable {
  /// One word, or two for a member of a group: `certs push`.
  package let name: String
  package let summary: String
  /// A few lines between the usage and the flags: what the flags alone don't tell, or an example.
  let about: String
  /// Its flags as help shows them.
  let groups: [FlagGroup]
  package let arguments: [Argument]
  /// Whether a foreign command follows after `--`.
  let takesCommand: Bool
  /// Flags with which it needs no foreign command.
  let flagsWithoutCommand: [String]
  /// Whether another program carries it out, which has its flags and gets the words behind the command's first as they are: `run` finds
  /// them in `Settings.foreign`.
  let isElsewhere: Bool
  let run: @Sendable (Settings) throws -> ExitStatus

  package init(
    _ name: String, _ summary: String, about: String = "", flags: [any FlagDescription] = [],
    groups: [FlagGroup] = [], arguments: [Argument] = [], takesCommand: Bool = false,
    flagsWithoutCommand: [String] = [], isElsewhere: Bool = false,
    run: @escaping @Sendable (Settings) throws -> ExitStatus
  ) {
    (self.name, self.summary, self.about) = (name, summary, about)
    self.groups = groups.isEmpty ? [FlagGroup("", flags)] : groups
    (self.arguments, self.takesCommand, self.run) = (arguments, takesCommand, run)
    (self.flagsWithoutCommand, self.isElsewhere) = (flagsWithoutCommand, isElsewhere)
  }

  package var words: [String] { name.split(separator: " ").map(String.init) }

  /// All flags, in the order of the help.
  package var flags: [any FlagDescription] { groups.flatMap(\.flags) }

  func flag(named name: String) -> (any FlagDescription)? { flags.first { $0.name == name } }

  /// How it is typed. The closures show words that are typed as they are, those that something stands in for, and signs.
  func usage(
    _ bold: (String) -> String = { $0 }, _ italic: (String) -> String = { $0 },
    _ plain: (String) -> String = { $0 }
  ) -> String {
    let required = flags.filter(\.isRequired).map { "\(bold("--\($0.name)")) \(italic($0.placeholder))" }
    let others = flags.contains { !$0.isRequired } ? ["[\(italic("flags"))]"] : []
    let words = arguments.map { $0.isOptional ? "[\(italic($0.placeholder))]" : italic($0.placeholder) }
    let foreign = takesCommand ? ["\(plain("--")) \(italic("CMD")) \(plain("…"))"] : []
    return ([bold("apns-emulator \(name)")] + required + others + words + foreign).joined(separator: " ")
  }
}

/// A word after the flags that has no name of its own: `replay FILE`.
package struct Argument: Sendable {
  let placeholder: String
  let expectation: String
  let completion: CompletionHint
  package let help: String
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
}
