import Basics
import Testing

import Console

@Suite struct ByteSearchTests {
  /// The rule, read byte by byte.
  private func occurs(_ needle: [UInt8], in bytes: [UInt8]) -> Bool {
    guard bytes.count >= needle.count else { return false }
    return (0...bytes.count - needle.count).contains { start in
      zip(needle, bytes[start...]).allSatisfy { small($0) == small($1) }
    }
  }

  private func small(_ byte: UInt8) -> UInt8 { (65...90).contains(byte) ? byte + 32 : byte }

  private func isFound(_ text: String, _ bytes: [UInt8]) -> Bool {
    bytes.withUnsafeBytes { ByteSearch(text).isIn($0) }
  }

  @Test("A text is found wherever it stands, at each length and in either case")
  func everywhere() {
    for text in ["x", "Ab", "alert", "0123456789abcdefXYZ[@`{"] {
      for before in 0..<40 {
        for after in 0..<20 {
          let filler = [UInt8](repeating: UInt8(ascii: "-"), count: before)
          let bytes = filler + text.uppercased().utf8 + [UInt8](repeating: UInt8(ascii: "_"), count: after)
          #expect(isFound(text, bytes), "\(text) behind \(before)")
          #expect(!isFound(text + "!", bytes))
        }
      }
    }
  }

  @Test(
    "In texts of few letters it finds what a look at every byte finds, and pairs deny nothing that is there")
  func likeReference() {
    var choices = SeededChoices(seed: 11)
    let alphabet = Array("aAbB@`{[".utf8)
    for _ in 0..<20_000 {
      let bytes = (0..<Int.random(in: 0..<60, using: &choices)).map { _ in
        alphabet[Int.random(in: alphabet.indices, using: &choices)]
      }
      let needle = (0...Int.random(in: 0..<4, using: &choices)).map { _ in
        alphabet[Int.random(in: alphabet.indices, using: &choices)]
      }
      let text = String(decoding: needle, as: UTF8.self)
      let isThere = occurs(needle, in: bytes)
      #expect(isFound(text, bytes) == isThere)
      if isThere { #expect(bytes.withUnsafeBytes { ByteSearch(text).mayBeIn(BytePairs($0)) }) }
    }
  }

  @Test("Pairs tell that a text is not there, and an empty or single letter is left to the search")
  func pairs() {
    let bytes = Array(#"{"aps":{"alert":"xxxx"}}"#.utf8)
    bytes.withUnsafeBytes { bytes in
      let pairs = BytePairs(bytes)
      for number in 0..<1000 { #expect(!ByteSearch("never \(number)").mayBeIn(pairs)) }
      for text in ["", "z", "ALERT", "xx"] { #expect(ByteSearch(text).mayBeIn(pairs)) }
    }
  }
}
