/// SHA-1 (RFC 3174), for names only.
enum SHA1 {
  private typealias State = (UInt32, UInt32, UInt32, UInt32, UInt32)

  /// Of 20 bytes.
  static func digest(of message: some Sequence<UInt8>) -> [UInt8] {
    var state: State = (0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0)
    let bytes = padded(Array(message))
    for block in stride(from: 0, to: bytes.count, by: 64) {
      absorb(schedule(of: bytes[block..<block + 64]), into: &state)
    }
    return [state.0, state.1, state.2, state.3, state.4].flatMap {
      withUnsafeBytes(of: $0.bigEndian, Array.init)
    }
  }

  /// The message, a one bit, zeros up to a multiple of 64 bytes, of which the last eight are the bit count.
  private static func padded(_ message: [UInt8]) -> [UInt8] {
    var bytes = message
    bytes.append(0x80)
    bytes.append(contentsOf: repeatElement(0, count: (120 - bytes.count % 64) % 64))
    withUnsafeBytes(of: UInt64(message.count * 8).bigEndian) { bytes.append(contentsOf: $0) }
    return bytes
  }

  /// Eighty words out of sixteen.
  private static func schedule(of block: ArraySlice<UInt8>) -> [UInt32] {
    var words: [UInt32] = stride(from: block.startIndex, to: block.endIndex, by: 4).map { start in
      block[start..<start + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
    for index in 16..<80 {
      words.append(rotate(words[index - 3] ^ words[index - 8] ^ words[index - 14] ^ words[index - 16], by: 1))
    }
    return words
  }

  private static func absorb(_ words: [UInt32], into state: inout State) {
    var (a, b, c, d, e) = state
    for (index, word) in words.enumerated() {
      let (mixed, constant) = round(index, b, c, d)
      let next = rotate(a, by: 5) &+ mixed &+ e &+ constant &+ word
      (a, b, c, d, e) = (next, a, rotate(b, by: 30), c, d)
    }
    state = (state.0 &+ a, state.1 &+ b, state.2 &+ c, state.3 &+ d, state.4 &+ e)
  }

  private static func round(_ index: Int, _ b: UInt32, _ c: UInt32, _ d: UInt32) -> (UInt32, UInt32) {
    switch index {
    case 0..<20: ((b & c) | (~b & d), 0x5a82_7999)
    case 20..<40: (b ^ c ^ d, 0x6ed9_eba1)
    case 40..<60: ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc)
    default: (b ^ c ^ d, 0xca62_c1d6)
    }
  }

  private static func rotate(_ value: UInt32, by count: UInt32) -> UInt32 {
    value << count | value >> (32 - count)
  }
}
