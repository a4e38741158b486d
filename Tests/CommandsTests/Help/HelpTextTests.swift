import Commands
import Foundation
import Testing

@Suite("Help")
struct HelpTextTests {
  @Test("every command has help with each flag, its default and its argument")
  func everyCommand() throws {
    for command in CommandTable.commands {
      let text = try #require(HelpText.text(for: command.name, CommandTable.commands))
      #expect(text.hasPrefix("\(command.name): \(command.summary)"))
      for flag in command.flags {
        let row = try #require(
          Self.row(of: flag, in: text), "\(command.name) does not tell of --\(flag.name)")
        #expect(row.contains(flag.help))
        if let standard = flag.defaultText, !flag.isToggle { #expect(row.contains("(default \(standard))")) }
        #expect(row.contains("may be repeated") == flag.isRepeatable)
      }
      for argument in command.arguments { #expect(text.contains(argument.help)) }
    }
  }

  /// The flag's line, with the next one where the name takes a line of its own.
  private static func row(of flag: any FlagDescription, in text: String) -> String? {
    let lines = text.split(separator: "\n").map(String.init)
    let heads = ["  --\(flag.name) ", "  --\(flag.name)[="]
    guard let index = lines.firstIndex(where: { line in heads.contains { "\(line) ".hasPrefix($0) } }) else {
      return nil
    }
    return lines[index].contains(flag.help) ? lines[index] : lines[index...].prefix(2).joined()
  }

  @Test("the usage line names what is required")
  func usage() {
    #expect(Self.usage("device") == "usage: apns-emulator device --udid UDID --topic TOPIC [flags]")
    #expect(Self.usage("exec") == "usage: apns-emulator exec [flags] -- CMD …")
    #expect(Self.usage("completion") == "usage: apns-emulator completion bash|zsh|fish")
  }

  private static func usage(_ name: String) -> String? {
    HelpText.text(for: name, CommandTable.commands)?.split(separator: "\n")
      .first { $0.hasPrefix("usage:") }.map(String.init)
  }

  @Test("the overview names every command, and the exit statuses")
  func overview() throws {
    let text = try #require(HelpText.text(for: "", CommandTable.commands))
    for name in [
      "serve", "certs push", "certs key", "certs device", "device", "send", "feedback", "tokens", "exec",
      "health",
      "tail", "config", "completion", "bench",
    ] {
      #expect(text.contains("\n  \(name) "), "\(name) is missing")
    }
    #expect(
      text.contains(
        "0 success, 1 failure or rejected push, 2 wrong command line, 3 port in use, 4 store unusable"))
  }

  @Test("a group lists its members, and a stranger has no help")
  func groups() throws {
    let text = try #require(HelpText.text(for: "certs", CommandTable.commands))
    for member in ["push", "key", "device"] { #expect(text.contains("\n  certs \(member) ")) }
    #expect(!text.contains("serve"))
    #expect(HelpText.text(for: "elephant", CommandTable.commands) == nil)
  }

  @Test("settings are marked, and the note names a variable that exists")
  func settingsNote() throws {
    let text = try #require(HelpText.text(for: "serve", CommandTable.commands))
    #expect(text.contains("--gateway-port PORT *"))
    #expect(text.contains("environment variable (APNS_EMULATOR_BIND) and a key of the --config file"))
    let certs = try #require(HelpText.text(for: "certs push", CommandTable.commands))
    #expect(certs.contains("environment variable (APNS_EMULATOR_CERTS)."))
  }

  @Test("the flags of serve stand under headings, each once and in one column with the others")
  func headings() throws {
    let text = try #require(HelpText.text(for: "serve", CommandTable.commands))
    let lines = text.split(separator: "\n").map(String.init)
    var heading = ""
    var headings: [String: String] = [:]
    for line in lines {
      if !line.hasPrefix(" "), line.hasSuffix(":") { heading = String(line.dropLast()) }
      guard line.hasPrefix("  --"), let name = line.dropFirst(4).split(separator: " ").first else { continue }
      #expect(headings.updateValue(heading, forKey: String(name)) == nil, "--\(name) stands there twice")
    }
    #expect(headings.count == ServeFlags.all.count)
    #expect(!headings.values.contains(""))
    #expect(headings["gateway-port"] == "Listeners")
    #expect(headings["data"] == "Files")
    #expect(headings["lenient"] == "Credentials and seeds")
    #expect(headings["log-level"] == "Log and inspection")
    #expect(headings["capture"] == "Recording")
    #expect(headings["forward-window"] == "Forwarding")
    #expect(headings["token-length"] == "Behaviour where Apple is silent")
    let columns = Set(
      ServeFlags.all.compactMap { flag in
        lines.lazy.compactMap { $0.range(of: "  " + flag.help)?.upperBound.utf16Offset(in: $0) }
          .first.map { $0 - flag.help.utf16.count }
      })
    #expect(columns.count == 1, "\(columns)")
  }

  @Test("a value that may be left out stands in brackets")
  func optionalValue() throws {
    let flag = Flag("advice", ValueKind<AdviceRequest>.adviceRequest, "what is wrong")
    let command = CommandDescription("wrap", "wraps it", flags: [flag]) { _ in .success }
    let text = try #require(HelpText.text(for: "wrap", [command]))
    #expect(text.contains("\n  --advice[=error|warning]  what is wrong"))
    let page = ManPage(of: command).text(version: "1")
    #expect(page.contains("\\fB\\-\\-advice\\fR[=\\fIerror|\\:warning\\fR]"), "\(page)")
  }

  @Test("exec tells its own defaults: free ports, no data folder, warnings")
  func execDefaults() throws {
    let text = try #require(HelpText.text(for: "exec", CommandTable.commands))
    #expect(text.components(separatedBy: "off: not opened) (default 0)").count == 7)
    #expect(!text.contains("2195") && !text.contains("(default .apns-emulator)"))
    #expect(text.contains("minimum level that is logged (default warning)"))
  }
}
