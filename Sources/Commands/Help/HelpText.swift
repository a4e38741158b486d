/// What `--help` prints, from the same table that parses.
package enum HelpText {
  /// Help on one command, a group, or everything; nil if there is no such command.
  package static func text(for name: String, _ commands: [CommandDescription]) -> String? {
    if name.isEmpty { return overview(commands) }
    if let command = commands.first(where: { $0.name == name }) { return detail(command) }
    let members = commands.filter { $0.words.first == name }
    return members.isEmpty ? nil : "apns-emulator \(name) …\n\n" + list(members)
  }

  private static func overview(_ commands: [CommandDescription]) -> String {
    """
    apns-emulator emulates Apple's push notification service on your machine.

    usage: apns-emulator COMMAND [flags]

    \(list(commands))

    apns-emulator COMMAND --help lists the flags of a command. Start with: apns-emulator serve
    Exit status: 0 success, 1 failure or rejected push, 2 wrong command line, 3 port in use, 4 store unusable, 5 advice of exec --advice=LEVEL.
    """
  }

  private static func list(_ commands: [CommandDescription]) -> String {
    columns(commands.map { ("  " + $0.name, $0.summary) })
  }

  private static func detail(_ command: CommandDescription) -> String {
    let sections = [
      "\(command.name): \(command.summary)", "usage: \(command.usage())", command.about,
      columns(command.arguments.map { ("  " + $0.placeholder, $0.help) }), flags(command), note(command),
    ]
    return sections.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  /// The flags in one column, whatever heading they stand under.
  private static func flags(_ command: CommandDescription) -> String {
    let width = width(of: command.flags.map(row))
    return command.groups.map { group in
      (group.heading.isEmpty ? "" : "\(group.heading):\n") + columns(group.flags.map(row), width: width)
    }.joined(separator: "\n\n")
  }

  /// What the asterisks mean; nothing where there are none.
  private static func note(_ command: CommandDescription) -> String {
    guard let example = command.flags.first(where: \.isSetting)?.environmentName else { return "" }
    let file = command.flag(named: ServeFlags.config.name) == nil ? "" : " and a key of the --config file"
    return "A flag with a * is also an environment variable (\(example))\(file)."
  }

  private static func row(_ flag: any FlagDescription) -> (String, String) {
    let name =
      "  --\(flag.name)" + flag.valueUsage() + (flag.isSetting ? " *" : "")
    let standard = flag.defaultText.map { $0.isEmpty || flag.isToggle ? "" : " (default \($0))" } ?? ""
    return (name, flag.help + standard + (flag.isRepeatable ? "; may be repeated" : ""))
  }

  /// Widest left column that is kept in line, in characters.
  private static let widest = 38

  private static func width(of rows: [(String, String)]) -> Int {
    min(widest, rows.map(\.0.count).max() ?? 0)
  }

  private static func columns(_ rows: [(String, String)]) -> String { columns(rows, width: width(of: rows)) }

  private static func columns(_ rows: [(String, String)], width: Int) -> String {
    rows.map { left, right in
      left.count > width
        ? "\(left)\n\(String(repeating: " ", count: width + 2))\(right)"
        : left + String(repeating: " ", count: width + 2 - left.count) + right
    }.joined(separator: "\n")
  }
}
