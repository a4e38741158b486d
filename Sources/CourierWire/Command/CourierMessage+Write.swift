import PushModel

/// The server's hot path: a message put straight into an output buffer, without allocation.
extension CourierMessage {
  /// Bytes of a message around its payload: frame header 5, token 35, topic 23, payload header 3, message id 7,
  /// expiry 7, timestamp 11, storage flags twice 4, priority 4.
  @inlinable static var envelopeByteCount: Int { 5 + 35 + 23 + 3 + 7 + 7 + 11 + 4 + 4 + 4 }
  /// A base token as item 15.
  @inlinable static var baseTokenByteCount: Int { 35 }
  /// An `apns-id` as item 21.
  @inlinable static var apnsIdByteCount: Int { 19 }

  /// Bytes that `write` will put out.
  @inlinable
  public static func encodedSize(payloadCount: Int, hasBaseToken: Bool = false, hasApnsId: Bool = false)
    -> Int
  {
    envelopeByteCount + payloadCount + (hasBaseToken ? baseTokenByteCount : 0)
      + (hasApnsId ? apnsIdByteCount : 0)
  }

  /// Writes a whole frame to `output`, which must have room for `encodedSize` bytes, and returns its size.
  /// `payload` is at most 65535 bytes (its limits are far below); `expiry` in seconds since 1970 or `noExpiry`.
  /// `apnsId` is the sixteen bytes of the identifier in memory order.
  @inlinable
  public static func write(
    to output: UnsafeMutableRawPointer, token: DeviceToken, topic: TopicHash, payload: UnsafeRawBufferPointer,
    messageId: UInt32, expiry: UInt32, timestampNanoseconds: UInt64, storageFlags: UInt8, priority: UInt8,
    baseToken: DeviceToken? = nil, apnsId: (UInt64, UInt64)? = nil
  ) -> Int {
    typealias Item = CourierItem.Message
    precondition(payload.count <= 65535)
    var at = CourierMessageCursor(output)
    at.item(Item.token, 32)
    at.put(token)
    at.item(Item.topic, 20)
    at.put(topic)
    at.item(Item.payload, payload.count)
    at.put(payload)
    at.item(Item.messageId, messageId)
    at.item(Item.expiry, expiry)
    at.item(Item.timestamp, timestampNanoseconds)
    at.item(Item.storageFlags, storageFlags)
    at.item(Item.storageFlagsToo, storageFlags)
    at.item(Item.priority, priority)
    if let baseToken {
      at.item(Item.baseToken, 32)
      at.put(baseToken)
    }
    if let apnsId {
      at.item(Item.tracingIdentifier, 16)
      at.put(bigEndian: apnsId.0.bigEndian)
      at.put(bigEndian: apnsId.1.bigEndian)
    }
    return at.finish(.message)
  }
}

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
