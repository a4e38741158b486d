import PushModel

/// A write position in a frame whose size has been reserved.
@usableFromInline
struct CourierMessageCursor {
  @usableFromInline let start: UnsafeMutableRawPointer
  @usableFromInline var position: UnsafeMutableRawPointer

  /// Leaves the frame header free.
  @inlinable
  init(_ output: UnsafeMutableRawPointer) {
    start = output
    position = output + 5
  }

  @inlinable
  mutating func put<Integer: FixedWidthInteger>(bigEndian value: Integer) {
    position.storeBytes(of: value.bigEndian, as: Integer.self)
    position += MemoryLayout<Integer>.size
  }

  @inlinable
  mutating func put(_ token: DeviceToken) {
    position.storeBytes(of: token.words.0, as: UInt64.self)
    position.storeBytes(of: token.words.1, toByteOffset: 8, as: UInt64.self)
    position.storeBytes(of: token.words.2, toByteOffset: 16, as: UInt64.self)
    position.storeBytes(of: token.words.3, toByteOffset: 24, as: UInt64.self)
    position += 32
  }

  @inlinable
  mutating func put(_ topic: TopicHash) {
    topic.write(to: position)
    position += TopicHash.byteCount
  }

  @inlinable
  mutating func put(_ bytes: UnsafeRawBufferPointer) {
    if let source = bytes.baseAddress { position.copyMemory(from: source, byteCount: bytes.count) }
    position += bytes.count
  }

  /// Id and length in front of a value.
  @inlinable
  mutating func item(_ id: CourierItem.Message, _ length: Int) {
    put(bigEndian: id.rawValue)
    put(bigEndian: UInt16(truncatingIfNeeded: length))
  }

  /// A whole item of one integer.
  @inlinable
  mutating func item<Integer: FixedWidthInteger & UnsignedInteger>(
    _ id: CourierItem.Message, _ value: Integer
  ) {
    item(id, MemoryLayout<Integer>.size)
    put(bigEndian: value)
  }

  /// Writes the header and returns the size of the frame.
  @inlinable
  func finish(_ command: CourierCommand) -> Int {
    let size = position - start
    start.storeBytes(of: command.rawValue, as: UInt8.self)
    start.storeBytes(of: UInt32(truncatingIfNeeded: size &- 5).bigEndian, toByteOffset: 1, as: UInt32.self)
    return size
  }
}
