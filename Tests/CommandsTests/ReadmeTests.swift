import Foundation
import Testing

import Commands

/// The README, and those pages of `Documentation` that tell how to use the program.
@Suite("The README and its pages")
struct ReadmeTests {
  private static let variables = [
    "$token": String(repeating: "00", count: 32), "$topic": "com.example.app",
  ]

  private let readme: String
  /// By name.
  private let pages: [String: String]

  init() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    readme = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let folder = root.appending(path: "Documentation")
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    pages = try Dictionary(
      uniqueKeysWithValues: files.filter { $0.pathExtension == "md" }.map {
        ($0.lastPathComponent, try String(contentsOf: $0, encoding: .utf8))
      })
  }

  @Test("every command line in them is one that the program takes")
  func commandLines() throws {
    #expect(commands(readme).count > 4)
    let lines = ([readme] + pages.values).flatMap(commands)
    #expect(lines.count > 24)
    let parser = CommandLineParser(
      commands: CommandTable.commands, environment: [:], readFile: { _ in Array("{}".utf8) })
    for line in lines {
      #expect(throws: Never.self, "\(line)") { _ = try parser.parse(words(line)) }
    }
  }

  @Test("the README's lines find the program: by its path, or once it is on the path")
  func path() throws {
    let lines = readme.split(separator: "\n")
    let isCommand = { (line: Substring) in line.hasPrefix("    apns-emulator ") }
    let first = try #require(lines.firstIndex(where: isCommand))
    #expect(lines[..<first].contains { $0.hasPrefix(#"    export PATH="$PWD/.build/release:$PATH""#) })
  }

  @Test("the README links the list of pages, which has every page")
  func links() throws {
    #expect(readme.contains("](Documentation/README.md)"))
    let list = try #require(pages["README.md"])
    for name in pages.keys where name != "README.md" { #expect(list.contains("](\(name))"), "\(name)") }
  }

  /// What follows `apns-emulator` in blocks of code, up to what the shell would take for itself.
  private func commands(_ text: String) -> [String] {
    var isFenced = false
    var lines: [String] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") { isFenced.toggle() }
      guard isFenced || line.hasPrefix("    "), let match = line.firstMatch(of: /apns-emulator ([^|&#)]*)/)
      else { continue }
      lines.append(String(match.output.1))
    }
    return lines
  }

  /// Words as a shell splits them, with its variables filled in.
  private func words(_ line: String) -> [String] {
    line.matches(of: /'([^']*)'|"([^"]*)"|[^ ]+/).map { match in
      let word = String(match.output.1 ?? match.output.2 ?? match.output.0)
      return Self.variables[word.lowercased()] ?? word
    }
  }
}
