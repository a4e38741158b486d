/// Builds a Protocol Buffers message of numbers and byte strings.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  mutating func field(_ number: UInt64, _ value: UInt64) {
    varint(number << 3)
    varint(value)
  }

  mutating func field(_ number: UInt64, _ value: [UInt8]) {
    varint(number << 3 | 2)
    varint(UInt64(value.count))
    bytes.append(contentsOf: value)
  }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}
