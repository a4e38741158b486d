import Foundation
import Testing

import Advice

@Suite struct PageTests {
  private static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  @Test
  func `Each kind of finding has a heading on the page, with what it means, when it is found and what to do`()
    throws
  {
    let text = try String(contentsOf: Self.root.appending(path: AdviceRule.page), encoding: .utf8)
    let sections = text.components(separatedBy: "\n### ")
    let headings = sections.dropFirst().map { $0.prefix { $0 != "\n" } }
    #expect(headings.map(String.init).sorted() == AdviceRule.allCases.map(\.rawValue).sorted())
    for section in sections.dropFirst() {
      for word in ["**Means:**", "**Found:**", "**Do:**"] {
        #expect(section.contains(word), "\(word) of \(section.prefix(30))")
      }
    }
  }
}
