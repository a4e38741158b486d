import Testing

@testable import Credentials

@Suite("Base64")
struct Base64Tests {
  /// RFC 4648 10.
  static let published = [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
    ("foobar", "Zm9vYmFy"),
  ]

  private func decode(_ text: String) -> [UInt8]? { Base64.decode(Array(text.utf8)[...]) }

  @Test("the vectors of RFC 4648 hold, padded and not", arguments: published)
  func vectors(_ plain: String, _ text: String) {
    #expect(Base64.encode(Array(plain.utf8)) == text)
    #expect(decode(text) == Array(plain.utf8))
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    #expect(decode(text + padding) == Array(plain.utf8))
  }

  @Test("both alphabets stand for the same bytes")
  func alphabets() {
    #expect(decode("-_-_") == [0xfb, 0xff, 0xbf])
    #expect(decode("+/+/") == [0xfb, 0xff, 0xbf])
    #expect(Base64.encode([0xfb, 0xff, 0xbf]) == "-_-_")
  }

  @Test(
    "what is not Base64 is refused",
    arguments: [
      "Z", "Zm9vY", "Zg=", "Zg===", "=", "====", "Zm9v=", "Zm9v====", "Z m8", "Zm8\n", "Zm8*", "Zm=8", "Zé",
    ])
  func refused(_ text: String) { #expect(decode(text) == nil) }

  @Test("bits left over must be zero", arguments: ["Zh", "Zm9", "Zm9vYh=="])
  func leftover(_ text: String) { #expect(decode(text) == nil) }

  @Test("every byte survives")
  func roundTrip() {
    let all = (0...255).map { UInt8($0) }
    for count in 0...all.count {
      #expect(decode(Base64.encode(Array(all.prefix(count)))) == Array(all.prefix(count)))
    }
  }
}
