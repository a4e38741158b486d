/// The completion script for fish.
struct FishCompletion {
  let groups: CommandGroups

  var script: String {
    """
    # Completion of apns-emulator for fish. Made by: apns-emulator completion fish
    function __apns_emulator_at
        set -l words (commandline -opc)
        set -e words[1]
        test "$words" = "$argv"
    end
    function __apns_emulator_in
        set -l words (commandline -opc)
        set -e words[1]
        string match -q -- "$argv *" "$words "
    end
    complete -c apns-emulator -f

    """ + (commandLines + flagLines + argumentLines).map { "complete -c apns-emulator \($0)\n" }.joined()
  }

  private var commandLines: [String] {
    groups.firstWords.map { Self.choice($0.word, $0.summary, after: "") }
      + groups.names.flatMap { group in
        groups.members(of: group).map { Self.choice($0.words[1], $0.summary, after: " " + group) }
      }
  }

  private var flagLines: [String] {
    groups.commands.flatMap { command in command.flags.map { Self.line($0, of: command.name) } }
  }

  private var argumentLines: [String] {
    groups.commands.flatMap { command in
      command.arguments.compactMap { argument in
        switch argument.completion {
        case .words(let words):
          "-n '__apns_emulator_in \(command.name)' -a '\(words.joined(separator: " "))'"
        case .file, .folder: "-n '__apns_emulator_in \(command.name)' -F"
        default: nil
        }
      }
    }
  }

  private static func choice(_ word: String, _ summary: String, after words: String) -> String {
    "-n '__apns_emulator_at\(words)' -a \(word) -d \(quoted(summary))"
  }

  private static func line(_ flag: any FlagDescription, of command: String) -> String {
    let head = "-n '__apns_emulator_in \(command)' -l \(flag.name)"
    let value =
      switch flag.completion {
      case .toggle: ""
      case .none: " -x"
      case .file: " -r -F"
      case .folder: " -x -a '(__fish_complete_directories)'"
      case .words(let words): " -x -a '\(words.joined(separator: " "))'"
      case .optional(let words): " -f -a '\(words.joined(separator: " "))'"
      }
    return "\(head)\(value) -d \(quoted(flag.help))"
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
  }
}
