/// The completion script for zsh.
struct ZshCompletion {
  let groups: CommandGroups

  var script: String {
    """
    #compdef apns-emulator
    # Completion of apns-emulator for zsh. Made by: apns-emulator completion zsh
    _apns-emulator() {
      local command="$words[2]"
      local -a choices
      if (( CURRENT == 2 )); then
        choices=(
    \(topChoices)    )
        _describe command choices
        return
      fi
      case "$command" in
    \(groupCases)  esac
      shift words
      (( CURRENT-- ))
      case "$command" in
    \(commandCases)  esac
    }
    # Loaded by the shell the file is the function's body; sourced it registers the function.
    if [[ "$funcstack[1]" == "_apns-emulator" ]]; then
      _apns-emulator "$@"
    else
      compdef _apns-emulator apns-emulator
    fi

    """
  }

  private var topChoices: String {
    groups.firstWords.map { "      \(Self.quoted("\($0.word):\($0.summary)"))\n" }.joined()
  }

  /// The second word of a group, unless it is a flag.
  private var groupCases: String {
    groups.names.map { group in
      let members = groups.members(of: group)
      let choices = members.map { Self.quoted("\($0.words[1]):\($0.summary)") }.joined(separator: " ")
      return """
            \(group))
              if (( CURRENT == 3 )) && [[ "$words[3]" != -* ]]; then
                choices=(\(choices))
                _describe command choices
                return
              fi
              case "$words[3]" in
                \(members.map { $0.words[1] }.joined(separator: "|")))
                  command="\(group) $words[3]"
                  shift words
                  (( CURRENT-- ))
                  ;;
              esac
              ;;

        """
    }.joined()
  }

  private var commandCases: String {
    groups.commands.map { command in
      let specs = command.flags.map(Self.spec) + command.arguments.map(Self.spec)
      let tail = command.takesCommand ? ["'*:::command:_normal'"] : []
      let all = (specs + ["'--help[explain the command]'"] + tail).map { " \\\n        \($0)" }.joined()
      return "    \"\(command.name)\")\n      _arguments\(all)\n      ;;\n"
    }.joined()
  }

  private static func spec(_ flag: any FlagDescription) -> String {
    let help = flag.help.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
    let star = flag.isRepeatable ? "*" : ""
    let value = ":\(label(flag.placeholder)):\(action(flag.completion))"
    return switch flag.completion {
    case .toggle: quoted("\(star)--\(flag.name)[\(help)]")
    // One colon more says that the value may be absent, the sign that it follows in the same word.
    case .optional: quoted("\(star)--\(flag.name)=-[\(help)]:\(value)")
    case .none, .file, .folder, .words: quoted("\(star)--\(flag.name)[\(help)]\(value)")
    }
  }

  private static func spec(_ argument: Argument) -> String {
    quoted(":\(label(argument.placeholder)):\(action(argument.completion))")
  }

  /// A colon would end the label.
  private static func label(_ placeholder: String) -> String {
    String(placeholder.map { $0 == ":" ? " " : $0 })
  }

  private static func action(_ hint: CompletionHint) -> String {
    switch hint {
    case .none, .toggle: ""
    case .file: "_files"
    case .folder: "_files -/"
    case .words(let words), .optional(let words): "(\(words.joined(separator: " ")))"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
