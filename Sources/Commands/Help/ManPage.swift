/// Manual pages in roff, from the same table that parses: `apns-emulator(1)`, and `apns-emulator-serve(1)` for `serve`.
package struct ManPage {
  /// Without its section: `apns-emulator-certs-push`.
  package let name: String
  private let summary: String
  private let sections: [(heading: String, body: String)]

  /// The page of one command.
  package init(of command: CommandDescription) {
    name = Self.name(of: command)
    summary = command.summary
    sections = [
      ("SYNOPSIS", Roff.line(command.usage(Self.bold, Self.italic, Roff.escaped))),
      ("DESCRIPTION", Roff.prose(command.about.isEmpty ? Self.sentence(command.summary) : command.about)),
      ("ARGUMENTS", command.arguments.map(Self.item).joined()),
      ("OPTIONS", command.groups.map(Self.options).joined()),
      ("ENVIRONMENT", Self.environment(of: command)),
      ("EXIT STATUS", Self.exitStatus),
      ("SEE ALSO", Roff.line("\\fBapns\\-emulator\\fR(1)")),
    ]
  }

  /// The page of the whole program, which leads to the others.
  package init(of commands: [CommandDescription]) {
    name = "apns-emulator"
    summary = "emulate Apple's push notification service on this machine"
    sections = [
      ("SYNOPSIS", Roff.line("\\fBapns\\-emulator\\fR \\fICOMMAND\\fR [\\fIflags\\fR]")),
      ("DESCRIPTION", Roff.prose(CommandHelp.program)),
      ("COMMANDS", commands.map(Self.item).joined()),
      ("EXIT STATUS", Self.exitStatus),
      ("SEE ALSO", Roff.line(commands.map { Self.reference($0) }.joined(separator: ", "))),
    ]
  }

  /// Every page that there is.
  package static func all(_ commands: [CommandDescription]) -> [ManPage] {
    [ManPage(of: commands)] + commands.map(ManPage.init(of:))
  }

  /// The page's text for `man -l`.
  package func text(version: String) -> String {
    let head =
      ".TH \(Roff.quoted(name.uppercased())) 1 \"\" \(Roff.quoted("apns-emulator \(version)"))\n.ad l\n"
    let title = ".SH NAME\n" + Roff.line("\(Roff.escaped(name)) \\- \(Roff.escaped(summary))")
    return head + title
      + sections.filter { !$0.body.isEmpty }.map { ".SH \($0.heading)\n\($0.body)" }.joined()
  }

  private static func name(of command: CommandDescription) -> String {
    "apns-emulator-" + command.words.joined(separator: "-")
  }

  private static func reference(_ command: CommandDescription) -> String {
    "\\fB\(Roff.escaped(name(of: command)))\\fR(1)"
  }

  private static func sentence(_ summary: String) -> String {
    summary.prefix(1).uppercased() + summary.dropFirst() + "."
  }

  private static func item(_ command: CommandDescription) -> String {
    Roff.item(bold(command.name), Roff.escaped(sentence(command.summary)))
  }

  private static func item(_ argument: Argument) -> String {
    Roff.item(italic(argument.placeholder), Roff.escaped(argument.help))
  }

  private static func options(_ group: FlagGroup) -> String {
    (group.heading.isEmpty || group.flags.isEmpty ? "" : ".SS \(Roff.quoted(group.heading))\n")
      + group.flags.map(item).joined()
  }

  private static func item(_ flag: any FlagDescription) -> String {
    let term = bold("--\(flag.name)") + flag.valueUsage(italic)
    var notes: [String] = []
    if let text = flag.defaultText, !text.isEmpty, !flag.isToggle { notes.append("default \(text)") }
    if flag.isRepeatable { notes.append("may be repeated") }
    if flag.isSetting { notes.append(flag.environmentName) }
    let tail = notes.isEmpty ? "" : " (\(notes.joined(separator: "; ")))"
    return Roff.item(term, Roff.escaped(flag.help + tail))
  }

  private static func environment(of command: CommandDescription) -> String {
    guard command.flags.contains(where: \.isSetting) else { return "" }
    let file = command.flag(named: ServeFlags.config.name) == nil ? "" : ", and a key of the --config file"
    return Roff.prose(
      "Where a description ends with the name of a variable, the flag is that environment variable, too\(file)."
    )
  }

  private static let exitStatus = [
    ("0", "Success."), ("1", "Failure, or a rejected push."),
    ("2", "The command line is wrong."), ("3", "A port is in use."), ("4", "The store is unusable."),
    ("5", "exec --advice=LEVEL: the command is fine, and there is advice of that level."),
  ].map { Roff.item(bold($0), Roff.escaped($1)) }.joined()

  private static func bold(_ text: String) -> String { "\\fB\(Roff.escaped(text))\\fR" }

  /// A long list of words may be broken after each.
  private static func italic(_ text: String) -> String {
    "\\fI" + text.split(separator: "|").map { Roff.escaped(String($0)) }.joined(separator: "|\\:") + "\\fR"
  }
}

/// The little of roff that manual pages need.
private enum Roff {
  /// Text in which nothing is an instruction, and in which a dash or quote is what it was on the command line.
  static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "\\": "\\e"
      case "-": "\\-"
      case "'": "\\(aq"
      case "\"": "\\(dq"
      case "`": "\\(ga"
      case "^": "\\(ha"
      case "~": "\\(ti"
      default: scalar.isASCII ? String(scalar) : "\\[u\(hexadecimal(scalar.value))]"
      }
    }.joined()
  }

  /// An argument of a macro.
  static func quoted(_ text: String) -> String { "\"\(escaped(text))\"" }

  /// A line of text that has been escaped; a dot at its beginning is one.
  static func line(_ text: String) -> String { (text.hasPrefix(".") ? "\\&" : "") + text + "\n" }

  /// A term and what it means, both escaped.
  static func item(_ term: String, _ meaning: String) -> String { ".TP\n\(line(term))\(line(meaning))" }

  /// Paragraphs with an empty line between them. Lines that are indented are shown as they are.
  static func prose(_ text: String) -> String {
    text.split(separator: "\n\n").map { paragraph in
      let lines = paragraph.split(separator: "\n").map { line(escaped(String($0))) }.joined()
      return paragraph.hasPrefix("  ") ? ".PP\n.EX\n\(lines).EE\n" : ".PP\n\(lines)"
    }.joined()
  }

  /// As groff names a character: at least four digits.
  private static func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
