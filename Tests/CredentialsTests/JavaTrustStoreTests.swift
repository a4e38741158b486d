import Basics
import Testing

import Credentials

@Suite("A Java trust store")
struct JavaTrustStoreTests {
  /// Put together with Python's struct and hashlib from the format that the type's documentation shows.
  @Test("is written byte for byte as Java reads it")
  func bytes() {
    let store = JavaTrustStore.encode(
      [("root", [0x30, 0x01, 0x02])], madeAt: Timestamp(seconds: 1_700_000_000))
    let expected =
      "feedfeed 00000002 00000001 00000002 0004 726f6f74 0000018bcfe56800 0005 582e353039"
      + " 00000003 300102 ec0fa33ba3fd75388680dfe2ca181ec963cd6d9a"
    #expect(Hex.encode(store) == expected.filter { $0 != " " })
  }
}
