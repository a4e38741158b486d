import Testing

import Commands

@Suite("Completion scripts")
struct CompletionScriptTests {
  private static let size = Flag("size", ValueKind<Int>.number("N", 1...9), "how it's sized: [small]")
  private static let tone = Flag("tone", ValueKind<LogTone>.word, "how loud").repeatable
  private static let loud = Flag("loud", .toggle, "shout")
  private static let advice = Flag("advice", ValueKind<AdviceRequest>.adviceRequest, "what is wrong")

  private enum LogTone: String, CaseIterable, Sendable { case low, high }

  /// One of everything: a group, a group that is a command too, a name that is also another group's member.
  private static let commands = [
    CommandDescription("show", "shows it", flags: [size, tone, loud]) { _ in .success },
    CommandDescription("make key", "makes a key", flags: [loud]) { _ in .success },
    CommandDescription("make show", "makes a show", flags: [size]) { _ in .success },
    CommandDescription("race", "runs all", flags: [loud]) { _ in .success },
    CommandDescription("race one", "runs one", flags: [size]) { _ in .success },
    CommandDescription("speak", "says it", arguments: [Argument(ValueKind<LogTone>.word, "a tone")]) { _ in
      .success
    },
    CommandDescription("wrap", "wraps it", flags: [loud, advice], takesCommand: true) { _ in .success },
  ]

  @Test("each shell that is installed reads its script", arguments: CompletionScript.Shell.allCases)
  func syntax(shell: CompletionScript.Shell) throws {
    guard let interpreter = ForeignProgram.find(shell.rawValue) else { return }
    for table in [Self.commands, CommandTable.commands] {
      let result = try ForeignProgram.run(interpreter, ["-n"], input: CompletionScript.text(shell, table))
      #expect(result.status == 0, "\(result.output)")
      #expect(result.output.isEmpty)
    }
  }

  @Test("every command and flag is in each script", arguments: CompletionScript.Shell.allCases)
  func contents(shell: CompletionScript.Shell) {
    let script = CompletionScript.text(shell, CommandTable.commands)
    for command in CommandTable.commands {
      for word in command.words { #expect(script.contains(word)) }
      for flag in command.flags {
        let name = shell == .fish ? "-l \(flag.name) " : "--\(flag.name)"
        #expect(script.contains(name), "\(command.name) \(flag.name)")
      }
    }
  }

  /// Words typed so far, the last one unfinished, and what a shell should offer for it.
  static let offers: [(words: [String], offer: [String])] = [
    (["sh"], ["show"]),
    (["make", ""], ["key", "show"]),
    (["make", "show", "--s"], ["--size"]),
    (["make", "key", "--l"], ["--loud"]),
    (["show", "--lo"], ["--loud"]),
    (["show", "--loud", "--to"], ["--tone"]),
    (["show", "--tone", ""], ["high", "low"]),
    (["race", "one", "--s"], ["--size"]),
    (["race", "o"], ["one"]),
    (["race", "--l"], ["--loud"]),
    (["speak", "h"], ["high"]),
    (["wrap", "--a"], ["--advice"]),
    (["wrap", "--advice", "--l"], ["--loud"]),
  ]

  @Test("bash offers commands, members, flags and the words of a value", arguments: offers)
  func bash(words: [String], offer: [String]) throws {
    let bash = try #require(ForeignProgram.find("bash"))
    let line = (["apns-emulator"] + words).map { "'\($0)'" }.joined(separator: " ")
    let script =
      CompletionScript.text(.bash, Self.commands)
      + "COMP_WORDS=(\(line)); COMP_CWORD=\(words.count); _apns_emulator; printf '%s\\n' \"${COMPREPLY[@]}\"\n"
    let result = try ForeignProgram.run(bash, [], input: script)
    let answer = Set(result.output.split(separator: "\n").map(String.init)).subtracting(["--help"])
    #expect(answer.sorted() == offer)
  }

  @Test("fish offers the same", arguments: offers)
  func fish(words: [String], offer: [String]) throws {
    guard let fish = ForeignProgram.find("fish") else { return }
    let line = (["apns-emulator"] + words).joined(separator: " ")
    let script = CompletionScript.text(.fish, Self.commands) + "complete -C '\(line)'\n"
    let result = try ForeignProgram.run(fish, ["--no-config"], input: script)
    let answer = result.output.split(separator: "\n").compactMap { $0.split(separator: "\t").first }
    #expect(Set(answer.map(String.init)).subtracting(["--help"]).sorted() == offer)
  }

  @Test("fish offers the words of a value that may be left out behind the equals sign")
  func fishOptional() throws {
    guard let fish = ForeignProgram.find("fish") else { return }
    let script = CompletionScript.text(.fish, Self.commands) + "complete -C 'apns-emulator wrap --advice='\n"
    let result = try ForeignProgram.run(fish, ["--no-config"], input: script)
    let answer = result.output.split(separator: "\n").compactMap { $0.split(separator: "\t").first }
    #expect(answer.sorted() == ["--advice=error", "--advice=warning"])
  }

  @Test("bash leaves the command after two dashes alone")
  func foreignCommand() throws {
    let bash = try #require(ForeignProgram.find("bash"))
    let script =
      CompletionScript.text(.bash, Self.commands)
      + "COMP_WORDS=(apns-emulator wrap -- make --l); COMP_CWORD=4; _apns_emulator; echo \"${#COMPREPLY[@]}\"\n"
    #expect(try ForeignProgram.run(bash, [], input: script).output == "0\n")
  }
}
