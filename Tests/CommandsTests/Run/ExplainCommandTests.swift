import Basics
import Phone
import Testing

import Commands

@Suite("explain")
struct ExplainCommandTests {
  private func run(_ words: String...) throws -> ForeignProgram.Result {
    let program = try BuiltProgram(hasCerts: false)
    return try ForeignProgram.run(program.path, ["explain"] + words, folder: program.folder)
  }

  @Test("what a phone does, and what a tap does then, each with its rule and letter")
  func people() throws {
    let result = try run(#"{"aps":{"alert":"Hello"}}"#, "--push-type", "alert", "--app-state", "terminated")
    #expect(result.status == 0)
    let lines = result.output.split(separator: "\n").map(String.init)
    #expect(lines.first == "no problem found")
    #expect(lines.contains("on iOS 26, app terminated:"))
    #expect(lines.contains("  presented lock screen, list"))
    #expect(lines.contains { $0.hasPrefix("      A: ") && $0.hasSuffix("(system-shows)") })
    let tap = try #require(lines.firstIndex(of: "when it is tapped:"))
    #expect(lines[tap...].contains("  launched launchOptions[remoteNotification]"))
    let opening = "com.apple.UNNotificationDefaultActionIdentifier"
    #expect(lines[tap...].contains("  callback \(AppCallback.response.selector), \(opening)"))
  }

  @Test("ends with 1 for an error, with 0 for warnings, with 2 for a flag that is none")
  func status() throws {
    #expect(try run(#"{"aps":{"alert":"x""#).status == 1)
    #expect(try run(#"{"aps":{"titel":"x"}}"#, "--push-type", "alert").status == 0)
    let refused = try run("{}", "--priority", "7")
    #expect(refused.status == 2)
    #expect(refused.output.contains(#"--priority expects 10, 5 or 1, got "7""#))
    #expect(try run("{}", "--ios", "6").status == 2)
    #expect(try run("{}", "--push-type", "silent").status == 2)
  }

  @Test("of an iOS that nobody here knows the newest known rules, and a remark that says so")
  func unknownVersion() throws {
    let text = try run(#"{"aps":{"alert":"Hello"}}"#, "--ios", "27")
    #expect(text.status == 0)
    #expect(
      text.output.contains("on iOS 27 (the newest known rules apply, those of iOS 26.4), app suspended:"))
    let answer = try #require(
      JSONReader.read(Array(try run(#"{"aps":{"alert":"Hello"}}"#, "--ios", "27", "--json").output.utf8)))
    #expect(answer.member("phone")?.string("ios") == "27")
    #expect(answer.member("phone")?.string("remark") == "the newest known rules apply, those of iOS 26.4")
    let known = try run(#"{"aps":{"alert":"Hello"}}"#, "--ios", "26.4", "--json").output
    #expect(!known.contains("remark"))
  }

  @Test("as JSON, with the same names")
  func programs() throws {
    let result = try run(
      #"{"aps":{"content-available":1}}"#, "--push-type", "background", "--priority", "10", "--ios", "17.2",
      "--json")
    #expect(result.status == 1)
    let answer = try #require(JSONReader.read(Array(result.output.utf8)))
    #expect(answer.member("phone")?.string("ios") == "17.2")
    guard case .array(let findings)? = answer.member("findings"),
      case .array(let events)? = answer.member("onArrival")
    else {
      Issue.record("\(result.output)")
      return
    }
    #expect(findings.map { $0.string("rule") } == [LintRule.backgroundPriority.name])
    #expect(findings.map { $0.string("severity") } == ["error"])
    #expect(events.map { $0.string("rule") } == [PhoneRule.silentPriority.name])
    #expect(events.map { $0.string("evidence") } == ["A"])
  }

  @Test("a silent push without a type goes by its payload, unless it is read strictly")
  func strict() throws {
    let silent = #"{"aps":{"content-available":1}}"#
    #expect(try run(silent).output.contains("      O: \(PhoneRule.silentUntyped.sentence) (silent-untyped)"))
    #expect(
      try run(silent, "--strict-push-type").output.contains(
        "      M: \(PhoneRule.silentType.sentence) (silent-type)"))
  }

  @Test("what a payload says can't drive a terminal")
  func visible() throws {
    let escape = "\\u001b[2J"
    let result = try run(
      #"{"aps":{"alert":"x","sound":"\#(escape)a.caf","\#(escape)k":1,"interruption-level":"\#(escape)l"}}"#)
    #expect(result.output.contains("sound \\u{1b}[2Ja.caf"))
    #expect(result.output.contains("aps.\\u{1b}[2Jk: ") && result.output.contains(#"got "\u{1b}[2Jl""#))
    #expect(!result.output.unicodeScalars.contains("\u{1b}"))
  }

  @Test("an .apns file is explained without what names its app")
  func simulatorFile() throws {
    let result = try run(
      #"{"Simulator Target Bundle":"com.example.app","aps":{"alert":"Hello"}}"#, "--push-type", "alert")
    #expect(result.status == 0 && result.output.hasPrefix("no problem found\n"))
  }
}
