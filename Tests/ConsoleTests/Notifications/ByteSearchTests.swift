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
    ByteSearch(text).isIn(bytes.span)
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

  @Test("In texts of few letters it finds what a look at every byte finds")
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
      #expect(isFound(text, bytes) == occurs(needle, in: bytes))
    }
  }

  @Test("Nothing is everywhere, and a single letter in either case")
  func shortest() {
    #expect(isFound("", []) && isFound("", [1]) && !isFound("a", []))
    #expect(isFound("a", Array("A".utf8)) && isFound("A", Array("a".utf8)))
  }
}
