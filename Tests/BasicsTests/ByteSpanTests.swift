import Basics
import Testing

@Suite("Spans of bytes")
struct ByteSpanTests {
  @Test("are the same only if every byte is", arguments: 0...40)
  func sameBytes(_ count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37) }
    #expect(Self.areSame(bytes, bytes))
    #expect(!Self.areSame(bytes, bytes + [0]))
    for position in 0..<count {
      var other = bytes
      other[position] ^= 0x80
      #expect(!Self.areSame(bytes, other), "at \(position)")
    }
  }

  @Test("say whether one of them is a certain byte, wherever it is", arguments: 0...20)
  func holds(_ count: Int) {
    // Neighbours that differ from the wanted byte in the lowest or the highest bit, and the ends of the range.
    for filler: UInt8 in [0x2e, 0xaf, 0x00, 0xff, 0x30] {
      var bytes = [UInt8](repeating: filler, count: count)
      #expect(!Self.holds(bytes))
      for position in 0..<count {
        bytes[position] = 0x2f
        #expect(Self.holds(bytes), "at \(position)")
        bytes[position] = filler
      }
    }
  }

  @Test("are read as numbers in either order, at any place")
  func numbers() {
    let bytes: [UInt8] = [0xff, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08]
    let short = bytes.span.bigEndian(UInt16.self, at: 1)
    let word = bytes.span.bigEndian(UInt32.self, at: 5)
    let long = bytes.span.bigEndian(UInt64.self, at: 1)
    let native = UInt32(littleEndian: bytes.span.native(UInt32.self, at: 1))
    #expect((short, word, long) == (0x0102, 0x0506_0708, 0x0102_0304_0506_0708))
    #expect(native == 0x0403_0201)
  }

  @Test("a number beyond the end of its bytes ends the process")
  func beyond() async {
    await #expect(processExitsWith: .failure) {
      let bytes: [UInt8] = [1, 2, 3]
      _ = bytes.span.bigEndian(UInt32.self, at: 0)
    }
  }

  private static func holds(_ bytes: [UInt8]) -> Bool { bytes.span.holds(0x2f) }

  private static func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.span.hasSameBytes(as: other.span)
  }
}
