/// Reads the elements of the packed form from the bytes of one message; never reads past them
/// (`Documentation/device-protocol.md#packed-form`).
package struct PackReader {
  private let bytes: [UInt8]
  private(set) var position = 0
  private let command: UInt8

  package init(_ bytes: [UInt8], command: UInt8) { (self.bytes, self.command) = (bytes, command) }

  package var isAtEnd: Bool { position == bytes.count }

  package mutating func byte() throws(CourierProtocolError) -> UInt8 {
    guard position < bytes.count else { throw overrun }
    position += 1
    return bytes[position - 1]
  }

  mutating func take(_ count: Int) throws(CourierProtocolError) -> ArraySlice<UInt8> {
    guard count <= bytes.count - position else { throw overrun }
    position += count
    return bytes[position - count..<position]
  }

  /// What lies between two positions.
  func bytes(from start: Int) -> [UInt8] { Array(bytes[start..<position]) }

  /// The number that begins in the low `bits` of a tag.
  package mutating func number(_ tag: UInt8, bits: Int) throws(CourierProtocolError) -> Int {
    let full = (1 << bits) - 1
    let start = Int(tag) & full
    guard start == full else { return start }
    var number = full
    for group in 0..<PackLimits.numberGroups {
      let next = try byte()
      number += Int(next & 0x7f) << (7 * group)
      if next & 0x80 == 0 { return number }
    }
    throw .packMalformed(command: command, "a number of more than \(PackLimits.numberGroups) groups")
  }

  private var overrun: CourierProtocolError {
    .itemOverrun(command: command, remaining: bytes.count - position)
  }
}
