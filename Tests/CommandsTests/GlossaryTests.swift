import Foundation
import Testing

/// `Documentation/glossary.md` says what each word means.
@Suite("The glossary")
struct GlossaryTests {
  private static let page = URL(filePath: #filePath).appending(path: "../../../Documentation/glossary.md")
    .standardizedFileURL

  /// The first cell of each row, and what follows it.
  private let rows: [(term: String, meaning: String)]

  init() throws {
    rows = try String(contentsOf: Self.page, encoding: .utf8).split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      guard line.hasPrefix("| "), cells.count == 2, cells[0] != "term" else { return nil }
      return (cells[0], cells[1])
    }
  }

  @Test("each term stands there once, in the order of the alphabet, with a sentence that says what it means")
  func terms() {
    #expect(rows.count > 50)
    for (row, next) in zip(rows, rows.dropFirst()) {
      #expect(row.term.lowercased() < next.term.lowercased(), "\(row.term), \(next.term)")
    }
    for row in rows { #expect(row.meaning.hasSuffix("."), "\(row.term)") }
  }
}
