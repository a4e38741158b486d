import Aliases
import Testing

@Suite struct AliasBookTests {
  private func full() throws -> AliasBook {
    var book = AliasBook()
    for number in 1...AliasBook.limit { try book.add("token-\(number)", to: "anna") }
    return book
  }

  @Test func tenTokensFitAndNoMore() throws {
    var book = try full()
    #expect(throws: AliasBook.IsFull(alias: "anna")) { try book.add("token-11", to: "anna") }
    #expect(book.tokens(of: "anna").count == 10)
  }

  @Test func aTokenThatIsThereNeedsNoRoom() throws {
    var book = try full()
    try book.add("token-3", to: "anna")
    #expect(book.tokens(of: "anna").count == 10)
  }

  @Test func aPhoneIsThatOfWhoSignedInLast() throws {
    var book = try full()
    try book.add("token-3", to: "ben")
    #expect(book.tokens(of: "ben") == ["token-3"])
    #expect(!book.tokens(of: "anna").contains("token-3"))
    try book.add("token-11", to: "anna")
  }

  @Test func aTokenThatIsRefusedStaysWhereItWas() throws {
    var book = try full()
    try book.add("other", to: "ben")
    #expect(throws: AliasBook.IsFull.self) { try book.add("other", to: "anna") }
    #expect(book.tokens(of: "ben") == ["other"])
  }
}
