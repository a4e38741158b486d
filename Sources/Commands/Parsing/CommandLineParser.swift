import Basics

/// Turns words, environment and configuration file into one command with its settings. Pure: what it reads is given to it.
package struct CommandLineParser {
  /// What the command line asks for.
  package enum Request: Sendable {
    case run(CommandDescription, Settings)
    /// Help on a command, a group (`certs`), or, if empty, on everything.
    case help(String)
    case version
  }

  let commands: [CommandDescription]
  let environment: [String: String]
  /// The content of a file; throws a sentence if it can't be read.
  let readFile: (String) throws -> [UInt8]

  package init(
    commands: [CommandDescription], environment: [String: String],
    readFile: @escaping (String) throws -> [UInt8]
  ) {
    (self.commands, self.environment, self.readFile) = (commands, environment, readFile)
  }

  package func parse(_ words: [String]) throws -> Request {
    guard let first = words.first else { return .help("") }
    if first == "--help" || first == "-h" || first == "help" {
      let asked = Array(words.dropFirst())
      if let (command, _) = find(asked), command.isElsewhere { return handOn(command, asked + ["--help"]) }
      return .help(words.dropFirst().joined(separator: " "))
    }
    if first == "--version" { return .version }
    guard let (command, rest) = find(words) else { return try unknownCommand(words) }
    if command.isElsewhere { return handOn(command, words) }
    let ownWords = rest.prefix { $0 != "--" }
    if ownWords.contains("--help") || ownWords.contains("-h") { return .help(command.name) }
    return .run(command, try settings(of: command, rest))
  }

  /// To the program that carries it out.
  private func handOn(_ command: CommandDescription, _ words: [String]) -> Request {
    var settings = Settings()
    settings.foreign = Array(words.dropFirst())
    return .run(command, settings)
  }

  // MARK: Commands

  private func find(_ words: [String]) -> (CommandDescription, [String])? {
    for command in commands where words.starts(with: command.words) {
      return (command, Array(words.dropFirst(command.words.count)))
    }
    return nil
  }

  private func unknownCommand(_ words: [String]) throws -> Request {
    let first = words[0]
    let members = commands.filter { $0.words.count == 2 && $0.words[0] == first }
    guard members.isEmpty else {
      let next = words.dropFirst().first
      if next == nil || next == "--help" || next == "-h" { return .help(first) }
      throw UsageError(
        "\(first) has no command \"\(next ?? "")\""
          + Suggestion.question(next ?? "", among: members.map { $0.words[1] }), command: first)
    }
    let near = Suggestion.question(first, among: commands.map { $0.words[0] })
    throw UsageError("there is no command \"\(first)\"" + near)
  }

  // MARK: Flags

  private func settings(of command: CommandDescription, _ words: [String]) throws -> Settings {
    var settings = Settings()
    try readWords(words, command, &settings)
    try readConfiguration(command, &settings)
    readDefaults(command, &settings)
    try checkArguments(command, settings)
    for flag in command.flags where flag.isRequired && settings.values[flag.name] == nil {
      throw UsageError("--\(flag.name) is missing; it takes \(flag.expectation)", command: command.name)
    }
    return settings
  }

  private func readWords(_ words: [String], _ command: CommandDescription, _ settings: inout Settings) throws
  {
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        guard command.takesCommand else {
          throw UsageError("\(command.name) takes nothing after --", command: command.name)
        }
        settings.foreign = Array(rest)
        return
      }
      guard word.hasPrefix("--") else {
        settings.arguments.append(word)
        continue
      }
      try readFlag(String(word.dropFirst(2)), &rest, command, &settings)
    }
  }

  private func readFlag(
    _ word: String, _ rest: inout ArraySlice<String>, _ command: CommandDescription,
    _ settings: inout Settings
  ) throws {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard let flag = command.flag(named: parts[0]) else {
      let near = Suggestion.question(parts[0], among: command.flags.map(\.name), prefix: "--")
      throw UsageError("\(command.name) has no flag --\(parts[0])" + near, command: command.name)
    }
    let text: String
    if parts.count == 2 {
      text = parts[1]
    } else if let bareText = flag.bareText {
      text = bareText
    } else if let next = rest.first, !isFlag(next, command) {
      text = next
      rest.removeFirst()
    } else {
      throw UsageError("--\(flag.name) needs a value: \(flag.expectation)", command: command.name)
    }
    try check(flag, text, "--\(flag.name)", command)
    let earlier = settings.values[flag.name]?.texts ?? []
    settings.values[flag.name] = .init(texts: flag.isRepeatable ? earlier + [text] : [text], source: .flag)
  }

  /// Whether a word is one of the command's flags, and so no value of the flag before it.
  private func isFlag(_ word: String, _ command: CommandDescription) -> Bool {
    word.hasPrefix("--") && command.flag(named: String(word.dropFirst(2).prefix { $0 != "=" })) != nil
  }

  private func check(
    _ flag: any FlagDescription, _ text: String, _ name: String, _ command: CommandDescription
  ) throws {
    guard !flag.accepts(text) else { return }
    let shown = flag.isSecret ? "something else" : "\"\(text)\""
    throw UsageError("\(name) expects \(flag.expectation), got \(shown)", command: command.name)
  }

  // MARK: Environment, file, defaults

  private func readConfiguration(_ command: CommandDescription, _ settings: inout Settings) throws {
    let file = try configurationFile(command, settings)
    for flag in command.flags where flag.isSetting && settings.values[flag.name] == nil {
      // An empty variable is how scripts unset one for a single command.
      if let text = environment[flag.environmentName], !text.isEmpty {
        try check(flag, text, flag.environmentName, command)
        settings.values[flag.name] = .init(texts: [text], source: .environment(flag.environmentName))
      } else if let file, let texts = file.values[flag.name] {
        for text in texts { try check(flag, text, "\(file.path): \(flag.name)", command) }
        settings.values[flag.name] = .init(texts: texts, source: .file(file.path))
      }
    }
  }

  /// The file that the flag or the environment names; nil for none, and for commands that have no such flag.
  private func configurationFile(_ command: CommandDescription, _ settings: Settings) throws
    -> ConfigurationFile?
  {
    guard command.flag(named: ServeFlags.config.name) != nil else { return nil }
    let path = settings[ServeFlags.config] ?? environment[ServeFlags.config.environmentName]
    guard let path, !path.isEmpty else { return nil }
    return try ConfigurationFile(path: path, readFile, known: command.flags)
  }

  private func readDefaults(_ command: CommandDescription, _ settings: inout Settings) {
    for flag in command.flags where settings.values[flag.name] == nil {
      guard let text = flag.defaultText else { continue }
      settings.values[flag.name] = .init(texts: [text], source: .standard)
    }
  }

  private func checkArguments(_ command: CommandDescription, _ settings: Settings) throws {
    let arguments = Self.present(command.arguments, count: settings.arguments.count)
    for (index, text) in settings.arguments.enumerated() {
      guard let last = arguments.last, index < arguments.count || last.isRepeatable else {
        throw surplus(text, command)
      }
      let argument = index < arguments.count ? arguments[index] : last
      guard argument.accepts(text) else {
        throw UsageError(
          "\(command.name) expects \(argument.expectation), got \"\(text)\"", command: command.name)
      }
    }
    if let missing = arguments.dropFirst(settings.arguments.count).first {
      throw UsageError("\(missing.placeholder) is missing: \(missing.help)", command: command.name)
    }
    let needsCommand =
      command.takesCommand && !command.flagsWithoutCommand.contains { settings.values[$0] != nil }
    if needsCommand, settings.foreign.isEmpty {
      throw UsageError("\(command.name) needs -- and a command to run", command: command.name)
    }
  }

  /// The arguments that so many words stand for: as many optional ones are absent as words are too few.
  private static func present(_ arguments: [Argument], count: Int) -> [Argument] {
    var surplus = arguments.count - count
    return arguments.filter { argument in
      guard argument.isOptional, surplus > 0 else { return true }
      surplus -= 1
      return false
    }
  }

  /// A word that nobody asked for: a flag with one dash, a misspelt member of a group, or just too much.
  private func surplus(_ word: String, _ command: CommandDescription) -> UsageError {
    let members = commands.filter { $0.words.count == 2 && $0.words[0] == command.name }.map { $0.words[1] }
    let near =
      command.takesCommand
      ? "; put -- before the command to run"
      : word.hasPrefix("-")
        ? "; flags begin with two dashes"
        : Suggestion.question(word, among: members, prefix: "\(command.name) ")
    return UsageError("\(command.name) does not take \"\(word)\"" + near, command: command.name)
  }
}

/// The JSON file given by `--config`: one object whose keys are the flags of `serve` without their dashes.
package struct ConfigurationFile {
  let path: String
  private(set) var values: [String: [String]] = [:]

  /// Reads it; what is no object, or names an unknown key, is an error that says so.
  package init(path: String, _ readFile: (String) throws -> [UInt8], known flags: [any FlagDescription])
    throws
  {
    self.path = path
    let text = try readFile(path)
    if let problem = JSONReader.problem(of: text) {
      throw UsageError("\(path) is not JSON: \(problem)")
    }
    guard case .object(let members)? = JSONReader.read(text) else {
      throw UsageError("\(path) is not a JSON object")
    }
    let names = flags.filter(\.isSetting).map(\.name)
    for (name, value) in members {
      guard names.contains(name) else {
        let near = Suggestion.question(name, among: names)
        throw UsageError("\(path) has an unknown key \"\(name)\"" + near)
      }
      values[name] = try Self.texts(value, name, path)
    }
  }

  private static func texts(_ value: JSONValue, _ name: String, _ path: String) throws -> [String]? {
    switch value {
    case .null: nil
    case .string(let text): [text]
    case .bool(let flag): [flag ? "true" : "false"]
    case .integer(let number): [String(number)]
    case .number(let number): ["\(number)"]
    case .array(let elements): try elements.flatMap { try texts($0, name, path) ?? [] }
    case .object, .verbatim:
      throw UsageError("\(path): \(name) expects a text, a number or true or false, got an object")
    }
  }
}
