import PushModel
import Testing

import Faults

@Suite struct MagicTokenTests {
  private func read(_ text: String) -> FaultEffects? {
    let bytes = Array(text.utf8) + [UInt8](repeating: 0, count: max(0, 32 - text.utf8.count))
    return MagicToken.read(bytes)?.effects
  }

  @Test("Every reason of the table has a token", arguments: Rejection.allCases)
  func reasons(rejection: Rejection) throws {
    let token = try #require(MagicToken.make(rejection.reason))
    let effects = MagicToken.read(token.bytes)?.effects
    #expect(effects?.reason?.reason == rejection.reason)
  }

  @Test("The token of the documentation is the one that is read")
  func documented() throws {
    let hex = "21426164446576696365546f6b656e" + String(repeating: "0", count: 34)
    #expect(MagicToken.make("BadDeviceToken")?.hex == hex)
  }

  @Test(
    "A token that nobody was given and that reads like a magic one says which was perhaps meant",
    arguments: [
      ("!BadDevceToken", "did you mean !BadDeviceToken?"), ("!dely=500", "did you mean !delay?"),
      ("!elephant", "\"!elephant\", which names no fault"),
    ])
  func mistyped(word: String, expected: String) {
    let token = Array(word.utf8) + [UInt8](repeating: 0, count: 32 - word.utf8.count)
    let said = MagicToken.neverIssued(token).text
    #expect(said.hasPrefix("one that was never issued") && said.contains(expected))
    #expect(
      MagicToken.neverIssued([UInt8](repeating: 0x21, count: 32)).text.contains("did you mean") == false)
    #expect(MagicToken.neverIssued([UInt8](repeating: 7, count: 32)).text == "one that was never issued")
  }

  @Test("A magic word is of visible ASCII", arguments: [UInt8(0x20), 0x7f])
  func visible(byte: UInt8) {
    let token = [0x21, byte] + [UInt8](repeating: 0, count: 30)
    #expect(MagicToken.neverIssued(token).text == "one that was never issued")
  }

  @Test("A magic word may be as long as a token, with its mark")
  func longest() {
    let zeros = String(repeating: "0", count: 24)
    let token = MagicToken.make("delay=\(zeros)5")
    #expect(token?.bytes.last == UInt8(ascii: "5"))
    #expect(token.flatMap { MagicToken.read($0.bytes) }?.effects.delay == .init(milliseconds: 5))
    #expect(MagicToken.make("delay=0\(zeros)5") == nil)
  }

  @Test("Magic words have their effects")
  func magicWords() {
    #expect(read("!legacy=7")?.legacy == .init(status: 7))
    #expect(read("!delay=500")?.delay == .init(milliseconds: 500))
    #expect(read("!goaway=Shutdown")?.goAway == .init(reason: "Shutdown"))
    #expect(read("!goaway")?.goAway == .init())
    #expect(read("!rst=7")?.resetStream == 7)
    #expect(read("!garbage=100")?.garbage == 100)
    #expect(read("!reset")?.resetsConnection == true)
    #expect(read("!close")?.halfCloses == true)
    #expect(read("!stall")?.stalls == true)
    #expect(read("!streams=1")?.streamLimit == 1)
  }

  @Test(
    "Anything else is an ordinary token",
    arguments: [
      "", "BadDeviceToken", "!", "!NoSuchReason", "!legacy", "!legacy=256", "!legacy=x", "!delay=-1",
      "!delay=600001", "!garbage=0", "!garbage=65537", "!reset=1", "!close=now", "! BadTopic", "!rst=",
      "!streams", "!streams=1001", "!streams=-1", "!taken",
      "!BadTopic ", "!Bad\u{1}Topic", "!\u{e9}",
    ])
  func ordinary(text: String) { #expect(read(text) == nil) }

  @Test("A name may be a magic word, whole and without zeros")
  func names() {
    #expect(MagicToken.read(word: "!TooManyRequests")?.effects.reason == .tooManyRequests)
    #expect(MagicToken.read(word: "!TooManyRequests")?.word == "!TooManyRequests")
    for name in [nil, "", "!", "BadTopic", "!NoSuchReason", "!BadTopic\0", "com.example.app"] {
      #expect(MagicToken.read(word: name) == nil)
    }
  }

  @Test("Zeros only at the end, and 32 bytes only")
  func shape() {
    let inside = Array("!BadTopic".utf8) + [0, 1] + [UInt8](repeating: 0, count: 21)
    #expect(MagicToken.read(inside) == nil)
    #expect(MagicToken.read(Array("!BadTopic".utf8)) == nil)
    #expect(MagicToken.make("goaway=" + String(repeating: "x", count: 25)) == nil)
    #expect(MagicToken.make("nothing") == nil)
  }
}
