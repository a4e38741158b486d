import PushModel

/// A notification on its way to a device (`Documentation/device-protocol.md#message`).
public struct CourierMessage: CourierCommandValue {
  public static let command = CourierCommand.message

  /// The token it was addressed to.
  public var token: DeviceToken
  public var topic: TopicHash
  /// For apps, JSON.
  public var payload: [UInt8]
  /// Named again in the acknowledgement.
  public var messageId: UInt32
  /// Seconds since 1970; `noExpiry` for none.
  public var expiry: UInt32?
  /// When it was accepted, nanoseconds since 1970.
  public var timestamp: UInt64?
  public var storageFlags: UInt8?
  /// The same where another source has it; servers write both.
  public var storageFlagsToo: UInt8?
  /// 1, 5 or 10.
  public var priority: UInt8?
  public var baseToken: DeviceToken?
  /// The provider's `apns-id`: 16 bytes as written here; other servers may write text.
  public var tracingIdentifier: [UInt8]?
  /// By numbers of our own, and told to simulated devices only.
  public var pushType: UInt16?
  /// The provider's `apns-collapse-id`, told to simulated devices only.
  public var collapseId: String?
  /// What the emulator's history calls it, told to simulated devices with a phone only.
  public var notificationId: UInt64?
  /// The broadcast channel that it came through.
  public var channel: CourierChannel?

  /// An expiry that means "none".
  public static let noExpiry: UInt32 = .max
  /// Storage flag: it was kept while the device was offline.
  public static let flagFromStore: UInt8 = 1

  public init(token: DeviceToken, topic: TopicHash, payload: [UInt8], messageId: UInt32) {
    self.token = token
    self.topic = topic
    self.payload = payload
    self.messageId = messageId
  }

  /// Whether it was kept while the device was offline, wherever the server says so.
  public var isFromStore: Bool {
    ((storageFlags ?? 0) | (storageFlagsToo ?? 0)) & Self.flagFromStore != 0
  }

  public init(_ frame: CourierFrame) throws(CourierProtocolError) {
    var token: DeviceToken?
    var topic: TopicHash?
    var payload: [UInt8]?
    var messageId: UInt32?
    var items = frame.items
    while let item = try items.next() {
      switch CourierItem.Message(rawValue: item.id) {
      case .token: token = try item.requireToken()
      case .topic: topic = try item.requireTopicHash()
      case .payload: payload = item.bytes
      case .messageId: messageId = try item.requireInteger()
      default: continue
      }
    }
    self.token = try Self.require(token, CourierItem.Message.token)
    self.topic = try Self.require(topic, CourierItem.Message.topic)
    self.payload = try Self.require(payload, CourierItem.Message.payload)
    self.messageId = try Self.require(messageId, CourierItem.Message.messageId)
    try readOptional(frame)
  }

  /// Reads what a message may do without. A width that a known client would die of is an error here as well.
  private mutating func readOptional(_ frame: CourierFrame) throws(CourierProtocolError) {
    var items = frame.items
    while let item = try items.next() {
      guard let id = CourierItem.Message(rawValue: item.id) else { continue }
      try readOptional(id, item)
    }
  }

  private mutating func readOptional(
    _ id: CourierItem.Message, _ item: CourierItemView
  ) throws(CourierProtocolError) {
    switch id {
    case .expiry: expiry = try item.requireInteger()
    case .timestamp: timestamp = try item.requireInteger()
    case .storageFlags: storageFlags = item.integer()
    case .storageFlagsToo: storageFlagsToo = try item.requireInteger()
    case .priority: priority = try item.requireInteger()
    case .baseToken: baseToken = try item.requireToken()
    case .tracingIdentifier: tracingIdentifier = item.bytes
    case .pushType: pushType = item.integer()
    case .collapseId: collapseId = item.text
    case .notificationId: notificationId = item.integer()
    case .channel: channel = try CourierChannel(protobuf: item.value)
    case .token, .topic, .payload, .messageId: break
    }
  }

  public func encoded(after output: consuming [UInt8]) -> [UInt8] {
    typealias Item = CourierItem.Message
    var writer = CourierFrameWriter(Self.command, after: output)
    writer.item(Item.token, token)
    writer.item(Item.topic, topic)
    writer.item(Item.payload, payload)
    writer.item(Item.messageId, messageId)
    writer.item(Item.expiry, expiry)
    writer.item(Item.timestamp, timestamp)
    writer.item(Item.storageFlags, storageFlags)
    writer.item(Item.storageFlagsToo, storageFlagsToo)
    writer.item(Item.priority, priority)
    writer.item(Item.baseToken, baseToken)
    writer.item(Item.tracingIdentifier, tracingIdentifier)
    writer.item(Item.pushType, pushType)
    writer.item(Item.channel, channel?.protobuf)
    writer.item(Item.collapseId, collapseId)
    writer.item(Item.notificationId, notificationId)
    return writer.finish()
  }
}

/// What the provider said of it, in item 28 (`Documentation/device-protocol.md#private-to-the-emulator`).
extension CourierMessage {
  /// Bit of the item: the provider named no priority.
  @usableFromInline static var priorityUnsaid: UInt16 { 0x100 }
  /// The push type where the provider named none.
  @usableFromInline static var noPushType: UInt16 { 0xff }

  /// The item's number; nil for a priority without a push type, which needs none.
  @inlinable @inline(__always)
  public static func said(_ type: PushType?, priority isSaid: Bool) -> UInt16? {
    guard type != nil || !isSaid else { return nil }
    return (type.map { UInt16($0.rawValue) } ?? noPushType) | (isSaid ? 0 : priorityUnsaid)
  }

  /// nil where the provider said none.
  public var saidPushType: PushType? {
    pushType.flatMap { PushType(rawValue: UInt8(truncatingIfNeeded: $0)) }
  }

  /// Whether the provider named a priority.
  public var saysPriority: Bool { (pushType ?? 0) & Self.priorityUnsaid == 0 }
}

/// The server's hot path: a message put straight into an output buffer, without allocation.
extension CourierMessage {
  /// Bytes of a message around its payload: frame header 5, token 35, topic 23, payload header 3, message id 7,
  /// expiry 7, timestamp 11, storage flags twice 4, priority 4.
  @inlinable static var envelopeByteCount: Int { 5 + 35 + 23 + 3 + 7 + 7 + 11 + 4 + 4 + 4 }
  /// An `apns-id` as item 21.
  @inlinable static var apnsIdByteCount: Int { 19 }
  /// A push type as item 28, and a collapse id's header.
  @inlinable static var pushTypeByteCount: Int { 5 }
  @inlinable static var collapseIdHeaderByteCount: Int { 3 }
  /// A notification's id as item 0xe4.
  @inlinable static var notificationIdByteCount: Int { 11 }

  /// Bytes of what only a simulated device is told.
  @inlinable
  public static func privateByteCount(
    hasPushType: Bool, collapseIdCount: Int, hasNotificationId: Bool = false
  ) -> Int {
    (hasPushType ? pushTypeByteCount : 0)
      + (collapseIdCount > 0 ? collapseIdHeaderByteCount + collapseIdCount : 0)
      + (hasNotificationId ? notificationIdByteCount : 0)
  }

  /// Bytes that `write` will put out.
  @inlinable
  public static func encodedSize(payloadCount: Int, hasApnsId: Bool = false) -> Int {
    envelopeByteCount + payloadCount + (hasApnsId ? apnsIdByteCount : 0)
  }

  /// Writes a whole frame to `output`, which must have room for `encodedSize` and `privateByteCount` bytes, and returns its size.
  /// `payload` is at most 65535 bytes (its limits are far below); `expiry` in seconds since 1970 or `noExpiry`.
  /// `apnsId` is the sixteen bytes of the identifier in memory order.
  @inlinable
  public static func write(
    to output: UnsafeMutableRawPointer, token: DeviceToken, topic: TopicHash, payload: UnsafeRawBufferPointer,
    messageId: UInt32, expiry: UInt32, timestampNanoseconds: UInt64, storageFlags: UInt8, priority: UInt8,
    apnsId: (UInt64, UInt64)? = nil, pushType: UInt16? = nil,
    collapseId: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
    notificationId: UInt64? = nil
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
    if let apnsId {
      at.item(Item.tracingIdentifier, 16)
      at.put(bigEndian: apnsId.0.bigEndian)
      at.put(bigEndian: apnsId.1.bigEndian)
    }
    if let pushType { at.item(Item.pushType, pushType) }
    if !collapseId.isEmpty {
      at.item(Item.collapseId, collapseId.count)
      at.put(collapseId)
    }
    if let notificationId { at.item(Item.notificationId, notificationId) }
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
