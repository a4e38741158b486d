import Foundation
import Testing

import Console

/// `Documentation/console-api.md` lists what can be asked for.
@Suite struct ReferencePageTests {
  private static let page = URL(filePath: #filePath).appending(
    path: "../../../../Documentation/console-api.md"
  )
  .standardizedFileURL

  @Test("Each route has one line in the page on the API, and each line is of a route")
  func routes() throws {
    let text = try String(contentsOf: Self.page, encoding: .utf8)
    let lines = text.split(separator: "\n").compactMap { line in
      line.firstMatch(of: /^- `([A-Z]+ \/[^` ]*)`: ./).map { String($0.output.1) }
    }
    // A route for every method catches what is wrong.
    let routes = ConsoleLab().console.table.routes.filter { $0.method != Route.anyMethod }
    #expect(routes.count > 40)
    #expect(lines.sorted() == routes.map { "\($0.method) \($0.pattern.text)" }.sorted())
  }
}
