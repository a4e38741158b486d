/// A number that goes with a row and tells whether it is as it was written: a disk, or a person with an editor, may have changed
/// what SQLite takes for good. Not against people who mean to: they can compute it too.
///
/// Each step is a bijection of the state for given input, and of the input for a given state, so no change within one word goes
/// unnoticed; others do once in 2^64.
struct RowCheck {
  private static let factors: (UInt64, UInt64) = (0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f)
  private var state: UInt64 = 0x6170_6e73_726f_7773

  /// As SQLite keeps it.
  var value: Int64 { Int64(bitPattern: Self.mixed(state)) }

  mutating func add(_ number: Int64) { step(UInt64(bitPattern: number) ^ 1) }

  mutating func addNull() { step(2) }

  /// Four lanes, since a multiplication waits for the one before it.
  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    var lanes = (state, state &+ 1, state &+ 2, state &+ 3)
    var offset = 0
    while bytes.count - offset >= 32 {
      lanes.0 = Self.next(lanes.0, Self.word(bytes, offset))
      lanes.1 = Self.next(lanes.1, Self.word(bytes, offset + 8))
      lanes.2 = Self.next(lanes.2, Self.word(bytes, offset + 16))
      lanes.3 = Self.next(lanes.3, Self.word(bytes, offset + 24))
      offset += 32
    }
    state = lanes.0
    step(lanes.1)
    step(lanes.2)
    step(lanes.3)
    while bytes.count - offset >= 8 {
      step(Self.word(bytes, offset))
      offset += 8
    }
    var rest: UInt64 = 0
    for byte in bytes[offset...] { rest = rest << 8 | UInt64(byte) }
    step(rest)
    step(UInt64(bytes.count))
  }

  private mutating func step(_ word: UInt64) { state = Self.next(state, word) }

  @inline(__always)
  private static func next(_ state: UInt64, _ word: UInt64) -> UInt64 {
    let product = (state ^ word) &* factors.0
    return product << 31 | product >> 33
  }

  @inline(__always)
  private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }

  private static func mixed(_ state: UInt64) -> UInt64 {
    let once = (state ^ state >> 29) &* factors.1
    return once ^ once >> 32
  }
}
