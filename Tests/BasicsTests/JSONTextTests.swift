import Basics
import Testing

@Suite("JSON text")
struct JSONTextTests {
  private func compact(_ text: String) -> String? {
    JSONText.compact(text.utf8).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(
    "passes through unchanged when it is compact",
    arguments: [
      "null", "true", "false", "0", "-0", "1.5e+10", "2E-3", "\"\"", "[]", "{}",
      #"{"aps":{"alert":"hi","badge":1}}"#,
      #"["\"\\\/\b\f\n\r\t\u12aF","é漢🙂"]"#, "[[],[{}],{\"a\":[1,2]}]",
    ])
  func compactAlready(text: String) { #expect(compact(text) == text) }

  @Test("loses the white space between tokens and nothing else")
  func whiteSpace() {
    #expect(compact(" { \"a b\" :\t[ 1 ,\r\n 2 ] } \n") == #"{"a b":[1,2]}"#)
  }

  @Test(
    "is told from what only looks like it",
    arguments: [
      "", " ", "nul", "nullx", "01", "-", "1.", ".5", "1e", "+1", "[1,]", "[,1]", "[1 2]", "{\"a\"}",
      "{\"a\":}", "{a:1}",
      "{\"a\":1,}", "[", "]", "{", "\"", "\"\\x\"", "\"\\u12g4\"", "\"a\nb\"", "1 2", "'a'", "NaN",
      "{\"a\":1}}",
    ])
  func malformed(text: String) { #expect(compact(text) == nil) }

  @Test("has to be UTF-8, and no deeper than its limit")
  func limits() {
    #expect(JSONText.compact([0x22, 0xff, 0x22]) == nil)
    let depth = JSONText.maximumDepth
    let deepest = String(repeating: "[", count: depth - 1) + "1" + String(repeating: "]", count: depth - 1)
    #expect(compact(deepest) == deepest)
    #expect(compact("[\(deepest)]") == nil)
    #expect(compact(String(repeating: "[", count: 1_000_000)) == nil)
  }
}
