import Testing

import Transport

@Suite("ALPN list")
struct ALPNListTests {
  private func names(_ bytes: [UInt8]) -> [String] { ALPNList(bytes.span).names }

  @Test("an offer is read back as it was written")
  func roundTrip() {
    for offer in [[], ["h2"], ["apns-security-v3", "apns-pack-v1:4096:4096", "h2"]] {
      #expect(names(ALPNList.encode(offer)) == offer)
    }
    #expect(ALPNList.encode(["h2", "x"]) == [2, 0x68, 0x32, 1, 0x78])
  }

  @Test("of a cut list the whole names count")
  func cut() {
    #expect(names([2, 0x68, 0x32, 5, 0x78]) == ["h2"])
    #expect(names([2, 0x68]).isEmpty && names([255]).isEmpty)
  }

  @Test("a name is found where it lies")
  func range() {
    let bytes = ALPNList.encode(["x", "h2"])
    let list = ALPNList(bytes.span)
    #expect(list.range(of: "h2") == 3..<5 && list.range(of: "h3") == nil)
  }
}
