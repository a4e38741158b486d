import Foundation
import Phone
import Testing

/// The tables of `Documentation/explain.md` are those of the program.
@Suite("Rules in the documentation")
struct DocumentationTests {
  private static func page(_ name: String) throws -> String {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return try String(contentsOf: root.appending(path: "Documentation/\(name)"), encoding: .utf8)
  }

  /// The rows below a heading, cell by cell.
  private static func rows(below heading: String) throws -> [[String]] {
    let page = try page("explain.md")
    let start = try #require(page.range(of: "## \(heading)\n"))
    let section = page[start.upperBound...].prefix(
      upTo: page[start.upperBound...].range(of: "\n## ")?.lowerBound ?? page.endIndex)
    return section.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  @Test("every rule of the phone")
  func phone() throws {
    let rules = PhoneRule.allCases.map { rule in
      ["`\(rule.name)`", rule.evidence.map(\.rawValue).joined(separator: ", "), rule.sentence]
    }
    #expect(Set(try Self.rows(below: "Rules of the phone")) == Set(rules))
  }

  @Test("every finding")
  func findings() throws {
    let rules = LintRule.allCases.map { rule in
      ["`\(rule.name)`", rule.severity.rawValue, rule.evidence.rawValue, rule.meaning]
    }
    #expect(Set(try Self.rows(below: "Findings")) == Set(rules))
  }
}
