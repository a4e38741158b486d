import PushModel
import Testing

@Suite("Base64")
struct Base64Tests {
  /// RFC 4648, section 10, and bytes that need the last two digits of the alphabet.
  private let vectors: [(String, String)] = [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"), ("a~?b>>", "YX4/Yj4+"),
  ]

  @Test("is written and read as the RFC has it")
  func vectorsBothWays() {
    for (plain, text) in vectors {
      #expect(Base64.encode(Array(plain.utf8)) == text)
      #expect(Base64.decode(text.utf8) == Array(plain.utf8))
      #expect(Base64.decode(text.filter { $0 != "=" }.utf8) == Array(plain.utf8))
    }
  }

  @Test("gives every byte back")
  func everyByte() {
    let bytes = (0...255).map(UInt8.init)
    #expect(Base64.decode(Base64.encode(bytes).utf8) == bytes)
  }

  @Test(
    "is read across line breaks, and not with foreign characters", arguments: ["Z", "Zg==Zg", "Zm9*", "Zg-_"])
  func malformed(text: String) {
    #expect(Base64.decode("Zm9v\n\t YmFy\r\n".utf8) == Array("foobar".utf8))
    #expect(Base64.decode(text.utf8) == nil)
  }
}
