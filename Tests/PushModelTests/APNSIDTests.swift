import PushModel
import Testing

@Suite("Message id")
struct APNSIDTests {
  @Test(
    "comes back in the letters in which it was written",
    arguments: [
      "11111111-2222-4333-8444-555555555555", "07C0F2E2-7CE0-71EC-D0D6-E7089220F778",
      "abcdefAB-cDeF-aBcD-eFab-CDEFabcdefAB", "00000000-0000-0000-0000-000000000000",
      "ffffffff-ffff-ffff-ffff-ffffffffffff",
    ])
  func echo(_ text: String) throws {
    #expect(try #require(APNSID(text)).description == text)
  }

  @Test(
    "refuses whatever is not 8-4-4-4-12 hexadecimal digits",
    arguments: [
      "", "xyz", "11111111-2222-4333-8444-55555555555", "11111111-2222-4333-8444-5555555555555",
      "111111112-222-4333-8444-555555555555", "1111111g-2222-4333-8444-555555555555",
      "11111111222243338444555555555555", "11111111-2222-4333-8444 555555555555",
    ])
  func malformed(_ text: String) {
    #expect(APNSID(text) == nil)
  }

  @Test("is the same id in either case, and upper case when made here")
  func equality() {
    let made = APNSID(high: 0xabcd_ef01_2345_6789, low: 0xabcd_ef01_2345_6789)
    #expect(made.description == "ABCDEF01-2345-6789-ABCD-EF0123456789")
    #expect(made == APNSID("abcdef01-2345-6789-abcd-ef0123456789"))
    #expect(made != APNSID("abcdef01-2345-6789-abcd-ef0123456788"))
  }
}
