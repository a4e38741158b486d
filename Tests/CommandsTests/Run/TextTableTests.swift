import Testing

import Commands

@Suite("Text tables")
struct TextTableTests {
  @Test("columns are aligned, and nothing follows the last cell")
  func alignment() {
    let rows = [["UDID", "STATE", ""], ["phone-1", "gone", "x"], ["p"]]
    #expect(TextTable.lines(rows) == ["UDID     STATE", "phone-1  gone   x", "p"])
  }

  @Test("no rows are no lines")
  func nothing() {
    #expect(TextTable.lines([]).isEmpty)
  }
}
