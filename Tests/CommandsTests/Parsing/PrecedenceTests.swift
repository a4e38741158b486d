import Commands
import Testing

@Suite("Settings: flag over environment over file over default")
struct PrecedenceTests {
  private static func parse(
    _ words: [String], environment: [String: String] = [:], files: [String: String] = [:]
  ) throws -> Settings {
    let parser = CommandLineParser(commands: CommandTable.commands, environment: environment) { path in
      guard let text = files[path] else { throw CommandFailure("there is no \(path)") }
      return Array(text.utf8)
    }
    guard case .run(_, let settings) = try parser.parse(words) else { throw UsageError("no command") }
    return settings
  }

  /// The words after a setting's name on its line of `config`.
  private static func line(_ name: String, _ settings: Settings) -> [String] {
    let lines = ConfigCommand.lines(settings).map { $0.split(separator: " ").map(String.init) }
    return Array(lines.first { $0.first == name }?.dropFirst() ?? [])
  }

  private static let file = ["c.json": #"{"history": 50, "ephemeral": true, "gateway-port": "off"}"#]

  @Test("each source beats the next, and config says which it was")
  func precedence() throws {
    var words = ["config"]
    #expect(Self.line("history", try Self.parse(words)) == ["10000", "default"])
    words += ["--config", "c.json"]
    #expect(Self.line("history", try Self.parse(words, files: Self.file)) == ["50", "file", "c.json"])
    let environment = ["APNS_EMULATOR_HISTORY": "60"]
    #expect(
      Self.line("history", try Self.parse(words, environment: environment, files: Self.file))
        == ["60", "environment", "APNS_EMULATOR_HISTORY"])
    words += ["--history", "70"]
    #expect(
      Self.line("history", try Self.parse(words, environment: environment, files: Self.file))
        == ["70", "flag"])
  }

  @Test("the environment may name the file")
  func fileByEnvironment() throws {
    let settings = try Self.parse(
      ["config"], environment: ["APNS_EMULATOR_CONFIG": "c.json"], files: Self.file)
    #expect(Self.line("gateway-port", settings) == ["off", "file", "c.json"])
    #expect(Self.line("ephemeral", settings) == ["true", "file", "c.json"])
  }

  @Test("other commands read the environment and not the file")
  func fileElsewhere() throws {
    let environment = ["APNS_EMULATOR_CONFIG": "nowhere.json", "APNS_EMULATOR_CERTS": "elsewhere"]
    let settings = try Self.parse(["certs", "push", "--topic", "com.example.app"], environment: environment)
    #expect(settings[CommonFlags.certsOfEmulator] == "elsewhere")
  }

  @Test("an empty variable is none")
  func emptyVariable() throws {
    let settings = try Self.parse(["config"], environment: ["APNS_EMULATOR_HISTORY": ""])
    #expect(Self.line("history", settings) == ["10000", "default"])
  }

  @Test("every setting of serve has a line, an environment variable and a key")
  func everySetting() throws {
    let settings = ServeFlags.all.filter(\.isSetting)
    #expect(ConfigCommand.lines(try Self.parse(["config"])).count == settings.count)
    for flag in settings {
      let text =
        flag.isToggle
        ? "true"
        : flag.defaultText ?? ["7", "localhost:7", "nats://localhost"].first(where: flag.accepts)
          ?? "7-letters-or-more"
      let name = flag.environmentName
      let fromVariable = try Self.parse(["config"], environment: [name: text])
      #expect(fromVariable.source(flag.name) == .environment(name))
      let files = ["c.json": #"{"\#(flag.name)": "\#(text)"}"#]
      let fromFile = try Self.parse(["config", "--config", "c.json"], files: files)
      #expect(fromFile.source(flag.name) == .file("c.json"))
    }
  }

  @Test("the token seed is not shown")
  func tokenSeed() throws {
    let settings = try Self.parse(["config", "--token-seed", "tell-nobody"])
    #expect(Self.line("token-seed", settings) == ["(set)", "flag"])
    #expect(!ConfigCommand.lines(settings).joined().contains("tell-nobody"))
  }

  @Test("a proxy's password is not shown, and not repeated when it is part of something bad")
  func proxyPassword() throws {
    let settings = try Self.parse(["config", "--forward-proxy", "http://me:tell-nobody@proxy:3128"])
    #expect(Self.line("forward-proxy", settings) == ["(set)", "flag"])
    let variables = ["APNS_EMULATOR_FORWARD_PROXY": "https://me:tell-nobody@proxy:3128"]
    let failure = #expect(throws: UsageError.self) { try Self.parse(["config"], environment: variables) }
    let text = failure.map { "\($0)" } ?? ""
    #expect(
      text.contains("APNS_EMULATOR_FORWARD_PROXY expects a proxy") && !text.contains("tell-nobody"), "\(text)"
    )
  }

  @Test(
    "a bad value says where it is, what was expected and what came",
    arguments: [
      (
        ["APNS_EMULATOR_HISTORY": "many"], "{}",
        "APNS_EMULATOR_HISTORY expects a number from 1 to 10000000, got \"many\""
      ),
      ([:], #"{"history": 0}"#, "c.json: history expects a number from 1 to 10000000, got \"0\""),
      ([:], #"{"history": {}}"#, "c.json: history expects a text, a number or true or false, got an object"),
      ([:], #"{"histroy": 1}"#, "c.json has an unknown key \"histroy\"; did you mean history?"),
      ([:], #"{"elephant": 1}"#, "c.json has an unknown key \"elephant\""),
      ([:], "[1]", "c.json is not a JSON object"),
      ([:], "{", "c.json is not JSON: line 1, column 2: expected a string, got the end"),
      ([:], "", "c.json is not JSON: line 1, column 1: expected a value, got the end"),
      (
        [:], "{\n  \"history\": 1\n  \"seed\": 2\n}\n",
        "c.json is not JSON: line 3, column 3: expected \"}\", got \"\"seed\": 2.}.\""
      ),
      ([:], "{\n  \"history\": 1,\n}", "c.json is not JSON: line 3, column 1: expected a string, got \"}\""),
      (
        [:], "{\n  \"data\": \"a\n}",
        "c.json is not JSON: line 2, column 13: expected the end of a string, got \".}\""
      ),
      ([:], "{\n  \"history\": 1\n}\n}", "c.json is not JSON: line 4, column 1: expected the end, got \"}\""),
      (
        [:], "{\n  // sizes\n}", "c.json is not JSON: line 2, column 3: expected a string, got \"// sizes.}\""
      ),
    ])
  func badValue(environment: [String: String], file: String, message: String) {
    let error = #expect(throws: UsageError.self) {
      try Self.parse(["config", "--config", "c.json"], environment: environment, files: ["c.json": file])
    }
    #expect(error?.message == message)
  }

  @Test("a file that can't be read is an error")
  func unreadable() {
    #expect(throws: CommandFailure("there is no c.json")) {
      try Self.parse(["config", "--config", "c.json"])
    }
  }
}
