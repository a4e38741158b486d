import Foundation
import Testing

import Commands

/// `Documentation/commands.md` and `Documentation/configuration.md` against the table of commands: what `--help` tells stands there, and
/// nothing else.
@Suite("The reference of commands and flags")
struct ReferenceTests {
  /// A row of a table whose first cell is a flag.
  private struct Row {
    /// Without its dashes.
    let name: String
    let standard: String
    let meaning: String
  }

  private static let commonHeading = "find-a-running-emulator"
  private static let serve = Set(ServeFlags.all.map(\.name))

  private let commands: String
  private let configuration: String

  init() throws {
    let folder = URL(filePath: #filePath).appending(path: "../../../Documentation").standardizedFileURL
    commands = try String(contentsOf: folder.appending(path: "commands.md"), encoding: .utf8)
    configuration = try String(contentsOf: folder.appending(path: "configuration.md"), encoding: .utf8)
  }

  @Test("every flag of serve stands in configuration.md once, with its default, and no other does")
  func serveFlags() throws {
    let section = try #require(Self.section("flags-of-serve", of: configuration, withParts: true))
    let rows = Self.rows(section)
    #expect(rows.map(\.name).sorted() == ServeFlags.all.map(\.name).sorted())
    for row in rows {
      let flag = try #require(ServeFlags.all.first { $0.name == row.name })
      Self.check(row, flag, in: "configuration.md")
    }
    #expect(Self.rows(configuration).count == rows.count)
  }

  @Test("every command has a section, with each flag of its own, its default, and no other flag")
  func commandFlags() throws {
    let common = try #require(Self.section(Self.commonHeading, of: commands))
    let commonRows = Self.rows(common)
    for command in CommandTable.commands where !command.name.hasPrefix("bench ") {
      let anchor = command.name.replacing(" ", with: "-")
      guard let section = Self.section(anchor, of: commands) else {
        Issue.record("commands.md has no section for \(command.name)")
        continue
      }
      let rows = Self.rows(section) + Self.common(section, among: commonRows)
      let own = command.flags.filter { Self.isOwn($0, of: command.name) }
      #expect(rows.map(\.name).sorted() == own.map(\.name).sorted(), "\(command.name)")
      for row in rows {
        guard let flag = own.first(where: { $0.name == row.name }) else { continue }
        Self.check(row, flag, in: command.name)
      }
    }
  }

  @Test("every command stands in the list by purpose")
  func list() throws {
    let list = commands.prefix(upTo: try #require(commands.range(of: "\n## ")).lowerBound)
    for command in CommandTable.commands where !command.name.hasPrefix("bench ") {
      let anchor = command.name.replacing(" ", with: "-")
      #expect(list.contains("[`\(command.name)`](#\(anchor))"), "\(command.name)")
    }
  }

  @Test("a row and a section are read as they are meant")
  func reading() {
    let page = """
      ## one
      | flag | default | meaning |
      |---|---|---|
      | `--a X\\|Y` | `X` | Words. |
      | `--e[=X\\|Y]` | | A word or nothing. |
      Common flags: `--b`, `--c`.
      ### two
      | `--d` | | More. |
      ## three
      """
    let rows = Self.rows(page)
    #expect(rows.map(\.name) == ["a", "e", "d"])
    #expect(rows.map(\.standard) == ["`X`", "", ""])
    #expect(Self.section("one", of: page).map { Self.rows($0).map(\.name) } == ["a", "e"])
    #expect(Self.section("one", of: page, withParts: true).map { Self.rows($0).count } == 3)
    #expect(Self.section("three", of: page) == "" && Self.section("four", of: page) == nil)
    let common = [Row(name: "b", standard: "", meaning: ""), Row(name: "d", standard: "", meaning: "")]
    #expect(Self.common(page, among: common).map(\.name) == ["b", "c"])
  }

  /// The flags of `serve` that `exec` and `config` take too stand in one place.
  private static func isOwn(_ flag: any FlagDescription, of command: String) -> Bool {
    switch command {
    case "serve", "exec", "config": !serve.contains(flag.name)
    default: true
    }
  }

  private static func check(_ row: Row, _ flag: any FlagDescription, in place: String) {
    if flag.isRequired {
      #expect(row.standard == "required", "\(place): --\(flag.name)")
    } else if let text = flag.defaultText, !text.isEmpty, flag.completion != .toggle {
      #expect(row.standard == "`\(text)`", "\(place): --\(flag.name)")
    } else {
      #expect(row.standard == "", "\(place): --\(flag.name)")
    }
    #expect(row.meaning.contains("May be repeated.") == flag.isRepeatable, "\(place): --\(flag.name)")
  }

  /// What stands below a heading, up to the next one, or with the parts of a section up to the next section.
  private static func section(_ anchor: String, of page: String, withParts: Bool = false) -> String? {
    let lines = page.split(separator: "\n", omittingEmptySubsequences: false)
    guard let start = lines.firstIndex(where: { $0.hasPrefix("##") && Self.anchor($0) == anchor }) else {
      return nil
    }
    let below = lines[(start + 1)...].prefix { line in
      withParts ? !line.hasPrefix("## ") : !line.hasPrefix("#")
    }
    return below.joined(separator: "\n")
  }

  private static func anchor(_ heading: Substring) -> String {
    heading.drop { $0 == "#" || $0 == " " }.lowercased().replacing(" ", with: "-")
  }

  private static func rows(_ text: String) -> [Row] {
    text.split(separator: "\n").compactMap { line in
      guard line.hasPrefix("| `--") else { return nil }
      // A bar within a cell has a backslash before it.
      let cells = line.replacing("\\|", with: "\u{1}").split(separator: "|", omittingEmptySubsequences: false)
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 5 else { return nil }
      let name = cells[1].dropFirst(3).prefix { $0 != " " && $0 != "`" && $0 != "[" }
      return Row(name: String(name), standard: cells[2].replacing("\u{1}", with: "|"), meaning: cells[3])
    }
  }

  /// Rows of those flags that a section names as common ones; one that is no common flag has a row of its own, which fits nothing.
  private static func common(_ section: String, among rows: [Row]) -> [Row] {
    guard let line = section.split(separator: "\n").first(where: { $0.hasPrefix("Common flags: ") }) else {
      return []
    }
    return line.matches(of: /`--([a-z-]+)`/).map { match in
      let name = String(match.output.1)
      return rows.first { $0.name == name } ?? Row(name: name, standard: "?", meaning: "")
    }
  }
}
