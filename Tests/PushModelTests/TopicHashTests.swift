import PushModel
import Testing

@Suite("Topic hash")
struct TopicHashTests {
  /// The first two are in `Documentation/device-protocol.md#filter`; the others, made with sha1sum, cross the edges of
  /// a block.
  @Test(
    "is the SHA-1 of the topic's name",
    arguments: [
      ("com.apple.madrid", "e4e6d952954168d0a5db02dbaf27cc35fc18d159"),
      ("com.example.app", "a003f1da17993ee51f2b3ceef6c6153afa8f3ec2"),
      (String(repeating: "a", count: 55), "c1c8bbdc22796e28c0e15163d20899b65621d65a"),
      (String(repeating: "a", count: 56), "c2db330f6083854c99d4b5bfb6e8f29f201be699"),
      (String(repeating: "a", count: 64), "0098ba824b5c16427bd7a1122a5a442a25ec644d"),
      (String(repeating: "a", count: 255), "5afd9729928ad946eee5610434e66b5f95accbaf"),
    ])
  func vectors(name: String, hex: String) throws {
    #expect(TopicHash(try #require(Topic(name))).hex == hex)
  }
}
