import PushModel
import Testing

@Suite("Chosen tokens") struct CustomTokenTests {
  @Test("any even number of hexadecimal digits will do, up to what providers may present")
  func spelling() {
    #expect(CustomToken(hex: "746F6b656e")?.hex == "746f6b656e")
    #expect(CustomToken(hex: "746F6b656e")?.plain == nil)
    let long = String(repeating: "ab", count: 32)
    #expect(CustomToken(hex: long)?.plain == DeviceToken(hex: long))
    #expect(CustomToken(hex: String(repeating: "0", count: 200)) != nil)
    for text in ["", "a", "abc", "0x", "g0", String(repeating: "0", count: 202)] {
      #expect(CustomToken(hex: text) == nil, "\(text)")
    }
  }

  @Test("the device that is made for one is named by its digits, and each has another")
  func names() throws {
    #expect(CustomToken(hex: "746f6b656e")?.name == "746f6b656e")
    var names: Set<String> = []
    for count in [31, 32, 33, 50, 99, 100] {
      for last: UInt8 in [1, 2] {
        let token = try #require(CustomToken(bytes: [UInt8](repeating: 0xab, count: count - 1) + [last]))
        #expect(UDID(token.name) != nil, "\(token.name)")
        names.insert(token.name)
      }
    }
    #expect(names.count == 12)
    #expect(
      CustomToken(hex: String(repeating: "61", count: 100))?.name
        == "61616161616161616161616-7f9000257a4918d7072655ea468540cdcbd42e0c")
  }
}
