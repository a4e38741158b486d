import Basics
import PushModel
import Testing

@Suite("Hexadecimal digits of tokens and ids")
struct HexDigitsTests {
  private func read(_ text: [UInt8]) -> DeviceToken? { DeviceToken(hexDigits: text.span) }

  @Test("spell a token in either case, byte for byte")
  func token() {
    let bytes = (0..<32).map { UInt8($0 * 37 & 255) }
    let text = Hex.encode(bytes)
    #expect(read(Array(text.utf8))?.bytes == bytes)
    #expect(read(Array(text.uppercased().utf8))?.bytes == bytes)
  }

  @Test("are told from every other byte at every place")
  func everyByte() {
    let good = [UInt8](repeating: UInt8(ascii: "a"), count: 64)
    for place in [0, 1, 7, 8, 15, 31, 63] {
      for byte in UInt8.min...UInt8.max {
        var text = good
        text[place] = byte
        let token = read(text)
        #expect((token != nil) == (Hex.value(byte) != nil), "byte \(byte) at \(place)")
        if let value = Hex.value(byte) {
          #expect(token?.bytes[place / 2] == (place % 2 == 0 ? value << 4 | 10 : 0xa0 | value))
        }
      }
    }
  }

  @Test("must be 64")
  func count() {
    for count in [0, 1, 63, 65, 128] { #expect(read([UInt8](repeating: 0x30, count: count)) == nil) }
  }

  @Test("of ids are written as they were read, whatever their letters")
  func ids() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      let parts = [8, 4, 4, 4, 12].map { count in
        String((0..<count).map { _ in "0123456789abcdefABCDEF".randomElement(using: &random) ?? "0" })
      }
      let text = parts.joined(separator: "-")
      #expect(try #require(APNSID(text)).description == text)
    }
  }
}
