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
