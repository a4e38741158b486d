/// Shell completion, from the same table that parses.
enum CompletionScript {
  /// The shells that are served.
  enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

  static func text(_ shell: Shell, _ commands: [CommandDescription]) -> String {
    switch shell {
    case .bash: bash(commands)
    case .zsh: "#compdef apns-emulator\nautoload -U +X bashcompinit && bashcompinit\n" + bash(commands)
    case .fish: fish(commands)
    }
  }

  private static func bash(_ commands: [CommandDescription]) -> String {
    let cases = commands.map { command in
      let words = command.flags.map { "--\($0.name)" } + ["--help"]
      return "    \"\(command.name)\"*) words=\"\(words.joined(separator: " "))\" ;;"
    }
    let values = valueCases(commands).map { name, offer in "    --\(name)) \(offer); return ;;" }
    return """
      _apns_emulator() {
        local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" words=""
        local line="${COMP_WORDS[*]:1:COMP_CWORD}"
        case "$previous" in
      \(values.joined(separator: "\n"))
        esac
        case "$line" in
      \(cases.sorted { $0.count > $1.count }.joined(separator: "\n"))
          "certs"*) words="push key device" ;;
          *) words="\(topWords(commands).joined(separator: " "))" ;;
        esac
        COMPREPLY=( $(compgen -W "$words" -- "$current") )
      }
      complete -o default -F _apns_emulator apns-emulator

      """
  }

  private static func valueCases(_ commands: [CommandDescription]) -> [(String, String)] {
    var seen: Set<String> = []
    return commands.flatMap(\.flags).filter { seen.insert($0.name).inserted }.compactMap { flag in
      switch flag.completion {
      case .words(let words):
        (flag.name, "COMPREPLY=( $(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\") )")
      case .file: (flag.name, "COMPREPLY=( $(compgen -f -- \"$current\") )")
      case .folder: (flag.name, "COMPREPLY=( $(compgen -d -- \"$current\") )")
      case .none, .toggle: nil
      }
    }
  }

  private static func fish(_ commands: [CommandDescription]) -> String {
    var lines = ["complete -c apns-emulator -f"]
    for command in commands {
      let words = command.words
      if words.count == 1 {
        lines.append(
          "complete -c apns-emulator -n __fish_use_subcommand -a \(words[0]) -d \(quoted(command.summary))")
      } else {
        lines.append("complete -c apns-emulator -n __fish_use_subcommand -a \(words[0])")
        lines.append(
          "complete -c apns-emulator -n '__fish_seen_subcommand_from \(words[0])' -a \(words[1]) -d \(quoted(command.summary))"
        )
      }
      let last = words[words.count - 1]
      for flag in command.flags {
        lines.append(
          "complete -c apns-emulator -n '__fish_seen_subcommand_from \(last)' -l \(flag.name)"
            + fishValue(flag) + " -d \(quoted(flag.help))")
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func fishValue(_ flag: any FlagDescription) -> String {
    switch flag.completion {
    case .toggle: ""
    case .words(let words): " -x -a \(quoted(words.joined(separator: " ")))"
    case .file, .folder: " -r -F"
    case .none: " -x"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "\\'" : String($0) }.joined() + "'"
  }

  private static func topWords(_ commands: [CommandDescription]) -> [String] {
    var seen: Set<String> = []
    return commands.map { $0.words[0] }.filter { seen.insert($0).inserted }
  }
}
