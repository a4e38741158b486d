import Commands
import Foundation
import Testing

@Suite("Manual pages")
struct ManPageTests {
  /// groff's `-ww` is every warning that it has.
  private static let groff = ForeignProgram.find("groff")

  @Test("a page for each command, with its flags, their defaults and variables")
  func contents() throws {
    let pages = ManPage.all(CommandTable.commands)
    #expect(pages.count == CommandTable.commands.count + 1)
    #expect(Set(pages.map(\.name)).count == pages.count)
    for (command, page) in zip(CommandTable.commands, pages.dropFirst()) {
      let text = Self.plain(page)
      for flag in command.flags {
        #expect(text.contains("\\fB--\(flag.name)\\fR"), "\(command.name) \(flag.name)")
        #expect(text.contains(Self.ascii(flag.help)), "\(command.name) \(flag.name)")
        if flag.isSetting { #expect(text.contains(flag.environmentName)) }
      }
    }
    #expect(Self.plain(pages[0]).contains("apns-emulator-certs-push\\fR(1)"))
  }

  /// What roff makes of dashes and quotes undone.
  private static func plain(_ page: ManPage) -> String {
    [("\\-", "-"), ("\\(aq", "'"), ("\\(dq", "\""), ("\\(ga", "`"), ("\\e", "\\")]
      .reduce(page.text(version: "1.2.3")) { $0.replacingOccurrences(of: $1.0, with: $1.1) }
  }

  private static func ascii(_ text: String) -> String {
    text.unicodeScalars.map { $0.isASCII ? String($0) : String(format: "\\[u%04X]", $0.value) }.joined()
  }

  @Test("groff takes every page without a warning", .enabled(if: groff != nil, "groff is not installed"))
  func warnings() throws {
    let groff = try #require(Self.groff)
    let text = ManPage.all(CommandTable.commands).map { $0.text(version: "1.2.3") }.joined()
    let result = try ForeignProgram.run(
      "/bin/sh", ["-c", "exec \"$0\" -man -ww -Tutf8 -rHY=0 2>&1 >/dev/null", groff], input: text)
    #expect(result.status == 0)
    #expect(result.output.isEmpty, "\(result.output)")
  }

  @Test("what stands in help is shown as it is", .enabled(if: groff != nil, "groff is not installed"))
  func text() throws {
    let command = CommandDescription(
      "make key", "makes a key",
      about: ".dots and 'quotes' at a line's beginning…\n\n  type \\n ^ ~ `as it is` --flag \"x\"",
      flags: [Flag("size", ValueKind<Int>.number("N", 1...9), default: "3", "how it's sized")]
    ) { _ in .success }
    let shown = try Self.shown(ManPage(of: command))
    for line in [
      "APNS-EMULATOR-MAKE-KEY(1)", "apns-emulator-make-key - makes a key",
      "apns-emulator make key [flags]", ".dots and 'quotes' at a line's beginning…",
      "type \\n ^ ~ `as it is` --flag \"x\"", "--size N", "how it's sized (default 3)",
    ] {
      #expect(shown.contains(line), "\(line) is not in\n\(shown)")
    }
  }

  /// A page as a terminal has it, without bold and underline.
  private static func shown(_ page: ManPage) throws -> String {
    let groff = try #require(Self.groff)
    let result = try ForeignProgram.run(
      groff, ["-man", "-Tutf8", "-P-cbou", "-rHY=0"], input: page.text(version: "1.2.3"))
    #expect(result.status == 0)
    return result.output
  }

  @Test("man prints a page by its command's name, and writes them all")
  func command() throws {
    let program = try BuiltProgram(hasCerts: false)
    defer { program.remove() }
    let one = try program.run("man", "certs-push")
    #expect(one.output.hasPrefix(".TH \"APNS\\-EMULATOR\\-CERTS\\-PUSH\" 1"))
    #expect(try program.run("man", "elephant").status == 2)
    #expect(try program.run("man", "--out", program.folder.path).status == 0)
    let files = try FileManager.default.contentsOfDirectory(atPath: program.folder.path)
    #expect(files.filter { $0.hasSuffix(".1") }.count == CommandTable.commands.count + 1)
  }
}
