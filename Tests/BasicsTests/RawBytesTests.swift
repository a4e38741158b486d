import Basics
import Testing

@Suite("Raw bytes")
struct RawBytesTests {
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
      #expect(!bytes.withUnsafeBytes { $0.holds(0x2f) })
      for position in 0..<count {
        bytes[position] = 0x2f
        #expect(bytes.withUnsafeBytes { $0.holds(0x2f) }, "at \(position)")
        bytes[position] = filler
      }
    }
  }

  private static func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.withUnsafeBytes { one in other.withUnsafeBytes { one.hasSameBytes(as: $0) } }
  }
}
