/// Shell completion, from the same table that parses.
package enum CompletionScript {
  /// The shells that are served.
  package enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

  package static func text(_ shell: Shell, _ commands: [CommandDescription]) -> String {
    let groups = CommandGroups(commands)
    return switch shell {
    case .bash: BashCompletion(groups: groups).script
    case .zsh: ZshCompletion(groups: groups).script
    case .fish: FishCompletion(groups: groups).script
    }
  }
}

/// The table as a person types it: first words, and the words that may follow some of them.
struct CommandGroups {
  let commands: [CommandDescription]

  init(_ commands: [CommandDescription]) { self.commands = commands }

  /// Commands of one word, in the order of the table.
  var plain: [CommandDescription] { commands.filter { $0.words.count == 1 } }

  /// First words of commands that have two, each once. One of them may be a command by itself too.
  var names: [String] {
    var seen: Set<String> = []
    return commands.filter { $0.words.count > 1 && seen.insert($0.words[0]).inserted }.map { $0.words[0] }
  }

  /// The commands of a group.
  func members(of group: String) -> [CommandDescription] {
    commands.filter { $0.words.count > 1 && $0.words[0] == group }
  }

  /// What may stand first, each once, with its explanation.
  var firstWords: [(word: String, summary: String)] {
    let names = plain.map(\.name)
    let groups = self.names.filter { !names.contains($0) }
    return plain.map { ($0.name, $0.summary) }
      + groups.map { group in (group, members(of: group).map { $0.words[1] }.joined(separator: ", ")) }
  }
}

extension Argument {
  /// The words that it may be; empty for anything else.
  var words: [String] {
    guard case .words(let words) = completion else { return [] }
    return words
  }
}
