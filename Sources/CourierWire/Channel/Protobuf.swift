import Basics

/// Walks over the fields of a Protocol Buffers message: as much of that format as channels use.
struct ProtobufReader: ~Escapable {
  enum Value: ~Escapable {
    case number(UInt64)
    case bytes(Span<UInt8>)
  }

  private var rest: Span<UInt8>

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { rest = bytes }

  /// The next field; nil at the end. Fixed-width fields, which no channel message has, come as numbers.
  @_lifetime(copy self)
  mutating func next() throws(CourierProtocolError) -> (number: UInt64, value: Value)? {
    guard !rest.isEmpty else { return nil }
    let key = try varint()
    switch key & 7 {
    case 0: return (key >> 3, .number(try varint()))
    case 1: return (key >> 3, .number(try fixed(UInt64.self)))
    case 2: return (key >> 3, .bytes(try take(try varint())))
    case 5: return (key >> 3, .number(UInt64(try fixed(UInt32.self))))
    default: throw malformed
    }
  }

  /// Seven bits a byte, the lowest first; at most ten bytes.
  private mutating func varint() throws(CourierProtocolError) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 70, by: 7) {
      guard let byte = rest.first else { throw malformed }
      rest = rest.dropping(1)
      value |= UInt64(byte & 0x7f) << UInt64(shift)
      if byte & 0x80 == 0 { return value }
    }
    throw malformed
  }

  private mutating func fixed<Integer: FixedWidthInteger & BitwiseCopyable>(
    _: Integer.Type
  ) throws(CourierProtocolError) -> Integer {
    Integer(littleEndian: try take(UInt64(MemoryLayout<Integer>.size)).native(Integer.self, at: 0))
  }

  @_lifetime(copy self)
  private mutating func take(_ count: UInt64) throws(CourierProtocolError) -> Span<UInt8> {
    guard count <= UInt64(rest.count) else { throw malformed }
    let taken = rest.prefix(Int(count))
    rest = rest.dropping(Int(count))
    return taken
  }

  private var malformed: CourierProtocolError {
    .itemMalformed(2, length: rest.count)
  }
}

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
