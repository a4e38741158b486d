import Basics
import Testing

@Suite("JSON reader")
struct JSONReaderTests {
  private func read(_ text: String) -> JSONValue? { JSONReader.read(Array(text.utf8)) }

  @Test(
    "reads every kind of value",
    arguments: [
      ("null", "null"), (" true ", "true"), ("false", "false"), ("0", "0"), ("-12", "-12"), ("1.5", "1.5"),
      ("1e3", "1000.0"), ("-0.25E-1", "-0.025"), (#""""#, #""""#), ("[]", "[]"), ("[1, 2]", "[1,2]"),
      ("{}", "{}"),
      (#"{"a":{"b":[null]},"c":"d"}"#, #"{"a":{"b":[null]},"c":"d"}"#), ("\t{ \"a\" :\r\n1 }", #"{"a":1}"#),
      ("9223372036854775807", "9223372036854775807"), ("9223372036854775808", "9.223372036854776e+18"),
    ])
  func values(_ text: String, _ expected: String) { #expect(read(text)?.text == expected) }

  @Test(
    "says where and why a text is not JSON",
    arguments: [
      (#"{"a":1"#, #"line 1, column 7: expected "}", got the end"#),
      ("{\n \"ä\": x}", #"line 2, column 7: expected a value, got "x}""#),
      ("[1,\n2]]", #"line 2, column 3: expected the end, got "]""#),
      ("[[[[[[[[[1]]]]]]]]]", "line 1, column 10: expected at most 8 levels of nesting, got more"),
    ])
  func problems(_ text: String, _ expected: String) {
    #expect(JSONReader.problem(of: Array(text.utf8))?.description == expected)
  }

  @Test(
    "bytes that are not UTF-8 are no JSON (RFC 8259, 8.1)",
    arguments: [
      ([0xff], "ff"), ([0xc3], "c3"), ([0xc0, 0x80], "c0"), ([0xed, 0xa0, 0x80], "ed"),
      ([0xc3, 0xa9, 0x80], "80"),
    ] as [([UInt8], String)])
  func encoding(_ bytes: [UInt8], _ byte: String) {
    let text = Array(#"{"a": "#.utf8) + [UInt8(ascii: "\"")] + bytes + Array(#""}"#.utf8)
    #expect(JSONReader.read(text) == nil)
    let column = byte == "80" ? 9 : 8
    #expect(
      JSONReader.problem(of: text)?.description
        == "line 1, column \(column): expected UTF-8, got the byte \(byte)")
    #expect(JSONReader.problem(of: Array(#"{"é": "😀"}"#.utf8)) == nil)
  }

  @Test(
    "reads escapes",
    arguments: [
      (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{c}\n\r\t"), (#""\u0041\u00e9""#, "Aé"),
      (#""\ud83d\ude00""#, "😀"),
      (#""\ud83d""#, "\u{fffd}"), (#""\ude00x""#, "\u{fffd}x"), (#""\ud83d\u0041""#, "\u{fffd}A"),
    ])
  func escapes(_ text: String, _ expected: String) {
    guard case .string(let string)? = read(text) else { return #expect(Bool(false), "no string") }
    #expect(string == expected)
  }

  @Test(
    "refuses what is not JSON",
    arguments: [
      "", " ", "nul", "truee", "01", "-", "+1", ".5", "1.", "1e", "1e+", "--1", "0x1", "NaN", "Infinity",
      "'a'", "\"",
      "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"a\nb\"", "[", "[1", "[1,", "[1,]", "[,1]", "{", "{\"a\"",
      "{\"a\":",
      "{\"a\":1", "{\"a\":1,", "{\"a\":1,}", "{a:1}", "{1:1}", "{} {}", "[1 2]", "1 2",
    ])
  func refused(_ text: String) { #expect(read(text) == nil) }

  @Test("refuses more depth than the limit")
  func depth() {
    let deepest = JSONReader.maximumDepth + 1
    #expect(read(String(repeating: "[", count: deepest) + String(repeating: "]", count: deepest)) != nil)
    #expect(
      read(String(repeating: "[", count: deepest + 1) + String(repeating: "]", count: deepest + 1)) == nil)
    #expect(read(String(repeating: "[", count: 1_000_000)) == nil)
  }

  @Test(
    "takes any number as a time and saturates",
    arguments: [
      ("1700000000", 1_700_000_000_000_000_000), ("1700000000.25", 1_700_000_000_250_000_000),
      ("1.7e9", 1_700_000_000_000_000_000), ("-1", -1_000_000_000), ("1e300", .max), ("-1e300", .min),
      ("1e999", .max), ("9223372036854775807", .max),
    ] as [(String, Int64)])
  func times(_ text: String, _ nanoseconds: Int64) {
    #expect(read(#"{"iat":\#(text)}"#)?.timestamp("iat")?.nanoseconds == nanoseconds)
  }

  @Test("of two members with one name the last counts")
  func duplicates() { #expect(read(#"{"a":"1","a":"2"}"#)?.string("a") == "2") }

  @Test(
    "counts values before any is made, up to where the text is JSON",
    arguments: [
      ("", 1), ("1", 1), ("[]", 1), ("[0,0,[0]]", 5), (#"{"a":{"b":[1,"c,d"]},"e":null}"#, 6), ("[0,0,0", 4),
      ("[0,0 0]", 3), (String(repeating: "[", count: 1_000_000), 9),
    ])
  func valueCount(_ text: String, _ count: Int) {
    #expect(JSONReader.valueCount(of: Array(text.utf8)) == count)
  }
}
