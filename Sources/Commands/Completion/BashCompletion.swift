/// The completion script for bash.
struct BashCompletion {
  let groups: CommandGroups

  var script: String {
    """
    # Completion of apns-emulator for bash. Made by: apns-emulator completion bash
    _apns_emulator() {
      local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
      local command="" word words=""
      COMPREPLY=()
      for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case "${command:+$command }$word" in
          \(names)) command="${command:+$command }$word" ;;
          *) break ;;
        esac
      done
      for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        [ "$word" != -- ] || return
      done
      case "$command $previous" in
    \(valueCases)  esac
      case "$command" in
    \(wordCases)  esac
      COMPREPLY=($(compgen -W "$words" -- "$current"))
    }
    complete -o bashdefault -o default -F _apns_emulator apns-emulator

    """
  }

  /// Every command and group, as alternatives of a pattern.
  private var names: String {
    (groups.commands.map(\.name) + groups.names).map { "\"\($0)\"" }.joined(separator: "|")
  }

  /// What may follow a flag that wants a value.
  private var valueCases: String {
    groups.commands.flatMap { command in
      command.flags.compactMap { flag in
        Self.reply(for: flag.completion).map { "    \"\(command.name) --\(flag.name)\") \($0); return ;;\n" }
      }
    }.joined()
  }

  private static func reply(for hint: CompletionHint) -> String? {
    switch hint {
    case .toggle, .optional: nil
    case .none: "compopt +o default +o bashdefault 2>/dev/null"
    case .file: "COMPREPLY=($(compgen -f -- \"$current\"))"
    case .folder: "COMPREPLY=($(compgen -d -- \"$current\"))"
    case .words(let words): "COMPREPLY=($(compgen -W \"\(words.joined(separator: " "))\" -- \"$current\"))"
    }
  }

  /// What may stand where no value is wanted. A group that is a command too offers both.
  private var wordCases: String {
    let first = groups.firstWords.map(\.word) + ["--help", "--version"]
    let bareGroups = groups.names.filter { name in !groups.commands.contains { $0.name == name } }
    let cases =
      [("", first)] + bareGroups.map { ($0, memberWords($0) + ["--help"]) }
      + groups.commands.map { ($0.name, words(of: $0)) }
    return cases.map { "    \"\($0.0)\") words=\"\($0.1.joined(separator: " "))\" ;;\n" }.joined()
  }

  private func words(of command: CommandDescription) -> [String] {
    memberWords(command.name) + command.arguments.flatMap(\.words) + command.flags.map { "--\($0.name)" }
      + ["--help"]
  }

  private func memberWords(_ group: String) -> [String] { groups.members(of: group).map { $0.words[1] } }
}
