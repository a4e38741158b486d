import Advice
import Testing

import Commands

@Suite("Command line parser")
struct CommandLineParserTests {
  private enum Tone: String, CaseIterable, Sendable { case low, high }

  private static let size = Flag("size", ValueKind<Int>.number("N", 1...9), default: "5", "how big")
  private static let tone = Flag("tone", ValueKind<Tone>.word, "how loud").repeatable
  private static let loud = Flag("loud", .toggle, "shout")
  private static let name = Flag("name", .text("NAME"), "who").required
  private static let advice = Flag("advice", ValueKind<AdviceRequest>.adviceRequest, "what is wrong")

  private static let commands = [
    CommandDescription("show", "shows it", flags: [size, tone, loud]) { _ in .success },
    CommandDescription("make key", "makes a key", flags: [name]) { _ in .success },
    CommandDescription("make lock", "makes a lock") { _ in .success },
    CommandDescription("race one", "runs one") { _ in .success },
    CommandDescription("race", "runs all") { _ in .success },
    CommandDescription("speak", "says it", arguments: [Argument(ValueKind<Tone>.word, "a tone")]) { _ in
      .success
    },
    CommandDescription(
      "sing", "sings it",
      arguments: [
        Argument(ValueKind<Tone>.word, "a tone"),
        Argument(ValueKind<Int>.number("N", 1...9), "how often").optional,
        Argument(ValueKind<String>.text("SONG"), "a song"),
      ]
    ) { _ in .success },
    CommandDescription("wrap", "wraps it", flags: [loud, advice], takesCommand: true) { _ in .success },
    CommandDescription("test", "tests it", flags: [loud], takesCommand: true, flagsWithoutCommand: ["loud"]) {
      _ in
      .success
    },
  ]

  private static func parse(_ line: String) throws -> CommandLineParser.Request {
    let parser = CommandLineParser(commands: commands, environment: [:]) { _ in [] }
    return try parser.parse(line.split(separator: " ").map(String.init))
  }

  private static func settings(_ line: String) throws -> Settings {
    guard case .run(_, let settings) = try parse(line) else { throw UsageError("no command was found") }
    return settings
  }

  @Test("a value is the next word or follows an equals sign", arguments: ["show --size 7", "show --size=7"])
  func value(line: String) throws {
    let settings = try Self.settings(line)
    #expect(settings[Self.size] == 7)
    #expect(settings.source("size") == .flag)
  }

  @Test("the last of several values counts, unless the flag may be repeated")
  func repetition() throws {
    let settings = try Self.settings("show --size 7 --tone low --size 8 --tone high")
    #expect(settings[Self.size] == 8)
    #expect(settings.all(Self.tone) == [.low, .high])
  }

  @Test(
    "a toggle needs no value and takes one after an equals sign",
    arguments: [
      ("show", false), ("show --loud", true), ("show --loud=true", true), ("show --loud=no", false),
      ("show --loud=1", true),
    ])
  func toggle(line: String, isOn: Bool) throws {
    #expect(try Self.settings(line).isOn(Self.loud) == isOn)
  }

  @Test(
    "a flag whose value is optional takes it after an equals sign only",
    arguments: [
      ("wrap --advice -- ls", .list), ("wrap --advice=error -- ls", .failure(on: .error)),
      ("wrap --advice=warning --loud -- ls", .failure(on: .warning)), ("wrap -- ls", nil),
    ] as [(String, AdviceRequest?)])
  func optionalValue(line: String, asked: AdviceRequest?) throws {
    let settings = try Self.settings(line)
    #expect(settings[Self.advice] == asked)
    #expect(settings.foreign == ["ls"])
  }

  @Test(
    "a word behind such a flag is no value of it, and neither is one that it does not know",
    arguments: ["wrap --advice error -- ls", "wrap --advice=note -- ls", "wrap --advice=Error -- ls"])
  func wrongOptionalValue(line: String) {
    #expect(throws: UsageError.self) { try Self.settings(line) }
  }

  @Test("an optional argument in the middle is the one that is absent when a word is missing")
  func optionalArgument() throws {
    #expect(try Self.settings("sing low 3 hymn").arguments == ["low", "3", "hymn"])
    #expect(try Self.settings("sing low hymn").arguments == ["low", "hymn"])
    #expect(throws: UsageError.self) { try Self.settings("sing low many hymn") }
    #expect(throws: UsageError.self) { try Self.settings("sing low") }
    #expect(throws: UsageError.self) { try Self.settings("sing low 3 hymn again") }
  }

  @Test("a flag that is not given has its default")
  func standard() throws {
    let settings = try Self.settings("show")
    #expect(settings[Self.size] == 5)
    #expect(settings.source("size") == .standard)
    #expect(settings[Self.tone] == nil)
  }

  @Test("a value may contain equals signs and begin with a dash")
  func oddValues() throws {
    #expect(try Self.settings("make key --name=a=b")[Self.name] == "a=b")
    #expect(try Self.settings("make key --name -x")[Self.name] == "-x")
    #expect(try Self.settings("make key --name --odd")[Self.name] == "--odd")
  }

  @Test("what follows two dashes belongs to the foreign command")
  func foreign() throws {
    let settings = try Self.settings("wrap --loud -- ls --loud -- -l --help")
    #expect(settings.foreign == ["ls", "--loud", "--", "-l", "--help"])
    #expect(settings.isOn(Self.loud))
  }

  @Test("a flag may say that there is nothing to run")
  func withoutCommand() throws {
    #expect(try Self.settings("test --loud").foreign == [])
    #expect(throws: UsageError.self) { try Self.settings("test") }
    #expect(try Self.settings("test -- ls").foreign == ["ls"])
  }

  @Test("an argument is kept")
  func argument() throws {
    #expect(try Self.settings("speak high").arguments == ["high"])
  }

  @Test("a group may be a command too")
  func groupCommand() throws {
    for (line, expected) in [("race", "race"), ("race one", "race one"), ("make lock", "make lock")] {
      guard case .run(let command, _) = try Self.parse(line) else {
        Issue.record("\(line) runs nothing")
        continue
      }
      #expect(command.name == expected)
    }
  }

  @Test(
    "what makes no sense is said with what was expected, what came, and what may have been meant",
    arguments: [
      ("shwo", "there is no command \"shwo\"; did you mean show?"),
      ("elephant", "there is no command \"elephant\""),
      ("make kye", "make has no command \"kye\"; did you mean key?"),
      ("race two", "race does not take \"two\""),
      ("race oen", "race does not take \"oen\"; did you mean race one?"),
      ("show --szie 3", "show has no flag --szie; did you mean --size?"),
      ("show --elephant", "show has no flag --elephant"),
      ("show --size 10", "--size expects a number from 1 to 9, got \"10\""),
      ("show --size=", "--size expects a number from 1 to 9, got \"\""),
      ("show --tone mid", "--tone expects low or high, got \"mid\""),
      ("show --loud=perhaps", "--loud expects true or false, got \"perhaps\""),
      ("show --size", "--size needs a value: a number from 1 to 9"),
      ("show --size --loud", "--size needs a value: a number from 1 to 9"),
      ("show extra", "show does not take \"extra\""),
      ("show -v", "show does not take \"-v\"; flags begin with two dashes"),
      ("show -- ls", "show takes nothing after --"),
      ("make key", "--name is missing; it takes a text that is not empty"),
      ("make key --name=", "--name expects a text that is not empty, got \"\""),
      ("speak", "low|high is missing: a tone"),
      ("speak mid", "speak expects low or high, got \"mid\""),
      ("wrap ls", "wrap does not take \"ls\"; put -- before the command to run"),
      ("speak low high", "speak does not take \"high\""),
      ("wrap", "wrap needs -- and a command to run"),
      ("wrap --", "wrap needs -- and a command to run"),
    ])
  func nonsense(line: String, message: String) {
    let error = #expect(throws: UsageError.self) { try Self.parse(line) }
    #expect(error?.message == message)
  }

  @Test(
    "an error knows whose help would answer",
    arguments: [
      ("shwo", "run apns-emulator --help for the commands"),
      ("show --size 0", "run apns-emulator show --help"),
      ("make key", "run apns-emulator make key --help"),
      ("make kye", "run apns-emulator make --help"),
    ])
  func hint(line: String, hint: String) {
    let error = #expect(throws: UsageError.self) { try Self.parse(line) }
    #expect(error?.hint == hint)
  }

  @Test(
    "help is asked for in several ways",
    arguments: [
      ("", ""), ("--help", ""), ("-h", ""), ("help", ""), ("help make key", "make key"), ("make", "make"),
      ("make --help", "make"), ("show --help", "show"), ("show --size 99 -h", "show"),
      ("make key --help", "make key"), ("wrap --help -- ls", "wrap"),
    ])
  func help(line: String, about: String) throws {
    guard case .help(let name) = try Self.parse(line) else {
      Issue.record("\"\(line)\" is no request for help")
      return
    }
    #expect(name == about)
  }

  @Test("the version is asked for")
  func version() throws {
    guard case .version = try Self.parse("--version") else {
      Issue.record("not understood")
      return
    }
  }
}
