import Basics
import PushModel

/// A notification on its way to a device (`Documentation/device-protocol.md#message`).
public struct CourierMessage: CourierCommandValue {
  public static let command = CourierCommand.message
  /// A width that a known client would die of is an error here as well.
  public static let form = CourierForm<CourierMessage>([
    CourierField(1, .token, \.token), CourierField(2, .topicHash, \.topic),
    CourierField(3, .bytes, \.payload),
    CourierField(4, .integer, \.messageId), CourierField(5, .integer, \.expiry),
    CourierField(6, .integer, \.timestamp), CourierField(7, .looseInteger, \.storageFlags),
    CourierField(9, .integer, \.storageFlagsToo), CourierField(13, .integer, \.priority),
    CourierField(15, .token, \.baseToken), CourierField(21, .bytes, \.tracingIdentifier),
    CourierField(28, .looseInteger, \.pushType), CourierField(29, .channel, \.channel),
    CourierField(0xe3, .text, \.collapseId), CourierField(0xe4, .looseInteger, \.notificationId),
  ])

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

  public init() { self.init(token: DeviceToken(), topic: TopicHash(), payload: [], messageId: 0) }
}

/// What the provider said of it, in item 28 (`Documentation/device-protocol.md#private-to-the-emulator`).
extension CourierMessage {
  /// Bit of the item: the provider named no priority.
  public static var priorityUnsaid: UInt16 { 0x100 }
  /// The push type where the provider named none.
  public static var noPushType: UInt16 { 0xff }

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
  /// Most bytes of a frame around payload and collapse id: header 5, token 35, topic 23, payload's header 3, message id 7, expiry 7,
  /// timestamp 11, storage flags twice 4, priority 4, `apns-id` 19, push type 5, collapse id's header 3, notification's id 11.
  public static let mostAround = 141

  /// Writes a whole frame to `output`, which must have room for `mostAround` bytes beside payload and collapse id. Items are those of
  /// the form.
  /// `payload` is at most 65535 bytes (its limits are far below); `expiry` in seconds since 1970 or `noExpiry`.
  /// `apnsId` is the sixteen bytes of the identifier in memory order.
  @inlinable @inline(__always)
  public static func write(
    to output: inout OutputSpan<UInt8>, token: DeviceToken, topic: TopicHash, payload: Span<UInt8>,
    messageId: UInt32, expiry: UInt32, timestampNanoseconds: UInt64, storageFlags: UInt8, priority: UInt8,
    apnsId: (UInt64, UInt64)? = nil, pushType: UInt16? = nil, collapseId: Span<UInt8> = .none,
    notificationId: UInt64? = nil
  ) {
    precondition(payload.count <= CourierLimits.itemByteCount)
    let start = output.count
    // The length comes last.
    output.append(native: UInt64(command.rawValue).littleEndian, size: CourierLimits.headerByteCount)
    output.item(1, token)
    output.item(2, topic)
    output.item(3, payload)
    output.item(4, integer: messageId)
    output.item(5, integer: expiry)
    output.item(6, integer: timestampNanoseconds)
    output.item(7, integer: storageFlags)
    output.item(9, integer: storageFlags)
    output.item(13, integer: priority)
    if let apnsId {
      output.item(21, 16)
      output.append(native: apnsId.0)
      output.append(native: apnsId.1)
    }
    if let pushType { output.item(28, integer: pushType) }
    if !collapseId.isEmpty { output.item(0xe3, collapseId) }
    if let notificationId { output.item(0xe4, integer: notificationId) }
    output.finishFrame(at: start)
  }
}

/// Items of a frame, for which there must be room, and for four bytes behind a number: it is stored with what is in front of it.
extension OutputSpan where Element == UInt8 {
  @inlinable @inline(__always)
  mutating func append(_ token: DeviceToken) {
    append(native: token.words.0)
    append(native: token.words.1)
    append(native: token.words.2)
    append(native: token.words.3)
  }

  @inlinable @inline(__always)
  mutating func item(_ id: UInt8, _ token: DeviceToken) {
    item(id, DeviceToken.byteCount)
    append(token)
  }

  @inlinable @inline(__always)
  mutating func item(_ id: UInt8, _ topic: TopicHash) {
    item(id, TopicHash.byteCount)
    append(native: topic.head)
    append(native: topic.middle)
    append(native: topic.tail)
  }

  @inlinable @inline(__always)
  mutating func item(_ id: UInt8, _ bytes: Span<UInt8>) {
    item(id, bytes.count)
    append(bytes)
  }

  /// Id and length in front of a value.
  @inlinable @inline(__always)
  mutating func item(_ id: UInt8, _ length: Int) {
    let head = UInt32(id) << 24 | UInt32(UInt16(truncatingIfNeeded: length)) << 8
    append(native: head.bigEndian, size: CourierLimits.itemHeaderByteCount)
  }

  /// A whole item of one integer.
  @inlinable @inline(__always)
  mutating func item<Integer: FixedWidthInteger & UnsignedInteger & BitwiseCopyable>(
    _ id: UInt8, integer value: Integer
  ) {
    let width = Integer.bitWidth
    guard width < 40 else {
      item(id, width / 8)
      return append(native: value.bigEndian)
    }
    let word = UInt64(id) << 56 | UInt64(width / 8) << 40 | UInt64(value) << UInt64(40 - width)
    append(native: word.bigEndian, size: CourierLimits.itemHeaderByteCount + width / 8)
  }

  /// The frame that began at `start` is whole: its header says how long it is.
  @inlinable @inline(__always)
  mutating func finishFrame(at start: Int) {
    let length = UInt32(truncatingIfNeeded: count &- start &- CourierLimits.headerByteCount)
    for place in 0..<4 {
      self[start &+ 4 &- place] = UInt8(truncatingIfNeeded: length >> (8 &* UInt32(place)))
    }
  }
}

/// The receipt of a message (`Documentation/device-protocol.md#acknowledgement`), matched by message id alone.
public struct Acknowledgement: CourierCommandValue {
  public static let command = CourierCommand.acknowledgement
  /// As devices send it.
  public static let form = CourierForm<Acknowledgement>([
    CourierField(4, .integer, \.messageId), CourierField(8, .integer, \.status, isNeeded: false),
    CourierField(1, .looseToken, \.token),
  ])

  public var messageId: UInt32
  /// 0: accepted. Anything else: not delivered.
  public var status: UInt8
  /// The app token or the base token, depending on the client.
  public var token: DeviceToken?

  @inlinable
  public init(messageId: UInt32, status: UInt8 = 0, token: DeviceToken? = nil) {
    self.messageId = messageId
    self.status = status
    self.token = token
  }

  public init() { self.init(messageId: 0) }

  /// Message id and status alone: the hot path of a server, which needs no token to find the message.
  @inlinable
  public static func read(_ frame: CourierFrame) throws(CourierProtocolError) -> Acknowledgement {
    var messageId: UInt32?
    var status: UInt8 = 0
    var items = frame.items
    while let item = try items.next() {
      switch item.id {
      case 4: messageId = try item.requireInteger()
      case 8: status = try item.requireInteger()
      default: continue
      }
    }
    guard let messageId else { throw .itemMissing(command: .acknowledgement, item: 4) }
    return Acknowledgement(messageId: messageId, status: status)
  }

  /// As servers had better send it: one known client looks no further than the first item.
  public var encodedStatusFirst: [UInt8] { Self.statusFirst.frame(of: self) }

  private static let statusFirst = CourierForm<Acknowledgement>([
    CourierField(8, .integer, \.status), CourierField(4, .integer, \.messageId),
  ])
}

/// A message from a device to the service (`Documentation/device-protocol.md#message`): topic and token stand the other
/// way round. Here it is only acknowledged.
public struct UpstreamMessage: CourierCommandValue {
  public static let command = CourierCommand.message
  public static let form = CourierForm<UpstreamMessage>([
    CourierField(1, .topicHash, \.topic), CourierField(2, .token, \.baseToken),
    CourierField(3, .bytes, \.payload, isNeeded: false), CourierField(4, .integer, \.messageId),
  ])

  public var topic: TopicHash
  /// The sender.
  public var baseToken: DeviceToken
  public var payload: [UInt8]
  public var messageId: UInt32

  public init(topic: TopicHash, baseToken: DeviceToken, payload: [UInt8], messageId: UInt32) {
    self.topic = topic
    self.baseToken = baseToken
    self.payload = payload
    self.messageId = messageId
  }

  public init() { self.init(topic: TopicHash(), baseToken: DeviceToken(), payload: [], messageId: 0) }
}
