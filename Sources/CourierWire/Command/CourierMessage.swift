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
  public var pushType: UInt16?
  /// The broadcast channel that it came through.
  public var channel: CourierChannel?

  /// An expiry that means "none".
  public static let noExpiry: UInt32 = .max
  /// Storage flag: it was kept while the device was away.
  public static let flagFromStore: UInt8 = 1
  /// Storage flag: the last of those that were kept.
  public static let flagLastFromStore: UInt8 = 2

  public init(token: DeviceToken, topic: TopicHash, payload: [UInt8], messageId: UInt32) {
    self.token = token
    self.topic = topic
    self.payload = payload
    self.messageId = messageId
  }

  /// Whether it was kept while the device was away, wherever the server says so.
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
}
