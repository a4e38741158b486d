import Basics
import Testing

@Suite struct JSONCursorTests {
  private func walk<Result>(_ text: String, _ body: (inout JSONCursor) throws -> Result) rethrows -> Result {
    let bytes = Array(text.utf8)
    var cursor = JSONCursor(bytes.span)
    return try body(&cursor)
  }

  @Test(
    "A string ends at its quote, wherever that is, and control characters end none",
    arguments: 0..<20, [#"\\"#, #"\""#, #"\u00e9"#, "é", ""])
  func strings(length: Int, inside: String) throws {
    let plain = String(repeating: "x", count: length)
    try walk(#" "\#(plain)\#(inside)y","#) { cursor in
      let string = try cursor.string()
      #expect(string.bytes.text == plain + inside + "y")
      #expect(string.isEscaped == inside.contains("\\") && cursor.next == UInt8(ascii: ","))
    }
    walk("\"\(plain)\u{1f}\(inside)\"") { cursor in
      #expect(throws: JSONSurprise.self) { _ = try cursor.string() }
      #expect(cursor.position == 1 + length)
    }
  }

  @Test(
    "Whole numbers of any length are read up to their limit",
    arguments: [
      "0", "9", "1234567", "12345678", "123456789", "1234567890123456", "9223372036854775807",
    ])
  func whole(text: String) throws {
    let number = try #require(Int64(text))
    for end in ["", ",", "        "] {
      #expect(try walk(text + end) { try $0.whole(upTo: .max) } == number)
      #expect(try walk(text + end) { try $0.whole(upTo: number) } == number)
      if number > 0 {
        #expect(throws: JSONSurprise.self) { try walk(text + end) { try $0.whole(upTo: number - 1) } }
      }
    }
  }

  @Test(
    "What is no whole number is none",
    arguments: [
      "", "-1", "1.0", "1e3", "1E3", "x", "9223372036854775808", "18446744073709551616",
      "99999999999999999999999999999999",
    ])
  func noWhole(text: String) {
    #expect(throws: JSONSurprise.self) { try walk(text) { try $0.whole(upTo: .max) } }
  }

  @Test(
    "What is skipped has to be JSON, and no deeper than asked for",
    arguments: [
      ("[1,-0.5e+7,{\"a\":[]}]", true), ("[1,]", false), ("{\"a\"}", false), ("01", false), ("nul", false),
      ("[[[]]]", true), ("[[[[]]]]", false), ("", false), ("-", false), ("1.", false), ("1e", false),
    ])
  func skipped(text: String, isFine: Bool) {
    let hasPassed = walk(text) { cursor in
      (try? cursor.skipValue(depth: 3)) != nil && cursor.isAtEnd
    }
    #expect(hasPassed == isFine)
  }
}
