import Basics
import Foundation
import Testing

@Suite("Base64")
struct Base64Tests {
  /// RFC 4648, section 10, and bytes that need the last two digits of the alphabet.
  static let vectors: [(String, String)] = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"), ("a~?b>>", "YX4/Yj4+"),
  ]
  static let forms: [Base64.Form] = [.strict, .webToken, .forgiving]

  private func decode(_ text: String, _ form: Base64.Form) -> [UInt8]? { Base64.decode(text.utf8, form) }

  @Test("is written and read as the RFC has it", arguments: vectors)
  func vectorsBothWays(_ plain: String, _ text: String) {
    let bytes = Array(plain.utf8)
    let bare = text.filter { $0 != "=" }
    #expect(Base64.encode(bytes) == text && Base64.encode(plain.utf8.lazy.map { $0 }) == text)
    for form in Self.forms { #expect(decode(text, form) == bytes) }
    #expect(decode(bare, .strict) == (bare == text ? bytes : nil))
    #expect(decode(bare, .webToken) == bytes && decode(bare, .forgiving) == bytes)
    let url = bare.replacing("+", with: "-").replacing("/", with: "_")
    #expect(Base64.encodeForURL(bytes) == url && decode(url, .webToken) == bytes)
  }

  @Test("is what everybody else writes, at every length", arguments: 0..<200)
  func everyLength(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ 7) }
    let text = Data(bytes).base64EncodedString()
    #expect(Base64.encode(bytes) == text)
    for form in Self.forms { #expect(decode(text, form) == bytes) }
  }

  /// A text of several words, at each place of which each byte is tried.
  @Test("has no digits but those of its alphabet, wherever they stand", arguments: 0..<64)
  func everyPlace(place: Int) {
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    let digits = Dictionary(uniqueKeysWithValues: zip(alphabet.utf8, UInt32.min...))
    var wrong: [UInt8] = []
    for byte in UInt8.min...UInt8.max {
      var text = Array(repeating: UInt8(ascii: "A"), count: 64)
      text[place] = byte
      // Nothing but zeros, and six bits of one group of three bytes.
      var plain = [UInt8](repeating: 0, count: 48)
      let group = (digits[byte] ?? 0) << UInt32(18 - place % 4 * 6)
      for index in 0..<3 { plain[place / 4 * 3 + index] = UInt8(group >> UInt32(16 - index * 8) & 255) }
      let isPadding = byte == UInt8(ascii: "=") && place % 4 == 3
      let expected = digits[byte] != nil ? plain : isPadding && place == 63 ? plain.dropLast() : nil
      let end = digits[byte] != nil ? 64 : isPadding ? place + 1 : place / 4 * 4
      if Base64.decode(text, .strict) != expected || read(text) != end { wrong.append(byte) }
    }
    #expect(wrong.isEmpty)
  }

  /// How much of a text is read as base64 where something else may follow.
  private func read(_ text: [UInt8]) -> Int {
    var buffer = ByteBuffer()
    return buffer.append(atMost: text.count + Base64.slack) { Base64.decodePrefix(text.span, into: &$0) }
  }

  @Test("gives every byte back")
  func everyByte() {
    let bytes = (0...255).map(UInt8.init)
    #expect(decode(Base64.encode(bytes), .strict) == bytes)
    #expect(decode(Base64.encodeForURL(bytes), .webToken) == bytes)
  }

  @Test("is nothing else in any form", arguments: ["Z", "Zm9vY", "Zg==Zg", "Zm=8", "Zm9*", "Zm9v!A==", "Zé"])
  func refused(_ text: String) {
    for form in Self.forms { #expect(decode(text, form) == nil) }
  }

  @Test(
    "is read in the strict form with exactly its padding, and nothing left over",
    arguments: [
      "Zg", "Zg=", "Z===", "====", "Zm9vZh==", "Zm 9v123", "Zm9v\u{e9}AAA", "Zg-_", "Zm9v=", "Zm9v====",
    ])
  func strict(_ text: String) { #expect(decode(text, .strict) == nil) }

  @Test(
    "is read in a token with its padding or none, without white space, and nothing left over",
    arguments: [
      "Zg=", "Zg===", "=", "====", "Zm9v=", "Zm9v====", "Z m8", "Zm8\n", "Zh", "Zm9", "Zm9vYh==",
    ])
  func webToken(_ text: String) {
    #expect(
      decode("-_-_", .webToken) == [0xfb, 0xff, 0xbf] && decode("+/+/", .webToken) == [0xfb, 0xff, 0xbf])
    #expect(decode(text, .webToken) == nil)
  }

  @Test(
    "is read across line breaks, with what is left over, from people",
    arguments: [
      ("Zm9v\n\t YmFy\r\n", "foobar"), ("Zg=", "f"), ("Zm8 = =", "fo"), ("Zh==", "f"), ("Zm9", "fo"),
      ("====", ""),
    ])
  func forgiving(_ text: String, _ plain: String) {
    #expect(decode(text, .forgiving) == Array(plain.utf8) && decode("Zg-_", .forgiving) == nil)
  }
}
