/// Shell completion, from the same table that parses.
enum CompletionScript {
  /// The shells that are served.
  enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

  static func text(_ shell: Shell, _ commands: [CommandDescription]) -> String {
    let groups = CommandGroups(commands)
    return switch shell {
    case .bash: BashCompletion(groups: groups).script
    case .zsh: ZshCompletion(groups: groups).script
    case .fish: FishCompletion(groups: groups).script
    }
  }
}
