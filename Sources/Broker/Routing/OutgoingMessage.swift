import PushModel

/// What a device's connection needs to send one message. The payload is lent for the call.
public struct OutgoingMessage {
  public var token: DeviceToken
  public var topic: TopicHash
  public var content: MessageContent
  public var head: MessageHead
  public var origin: MessageOrigin

  /// Tells it apart from other unacknowledged messages of the connection.
  public var messageId: UInt32 { wireMessageID(head.id) }
}

/// What a notification is called on a device's connection: the low half of its id. Of several nodes, whose ids begin 2^36 apart, each
/// begins elsewhere in that half: two that are on their way to one device at a time are called the same only if their counts differ by
/// one of few numbers.
@inline(__always)
public func wireMessageID(_ id: UInt64) -> UInt32 {
  UInt32(truncatingIfNeeded: id) &+ UInt32(truncatingIfNeeded: id >> 36) &* 0x9e37_79b1
}

/// Whether a message comes from storage, by the numbers of the device protocol
/// (`Documentation/device-protocol.md#message`, `#tokens-and-sessions`).
public enum MessageOrigin: UInt8, Sendable {
  case fresh = 0
  case stored = 1
  /// From storage, and the last of what was there.
  case lastStored = 3
}

/// A live connection to a device, as the broker sees it. Implemented by the courier listener.
public protocol CourierOutlet: AnyObject {
  /// Queues one message for the device; answers the bytes queued that the system has not taken.
  func deliver(_ message: OutgoingMessage) -> Int
  /// Queues one broadcast that came through a channel.
  func deliver(_ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash)
  /// Bytes queued that the system has not taken.
  var unsentBytes: Int { get }
  /// Bytes that the system has taken and not sent because the device's is full, as of the last flush: the death of this
  /// process loses them.
  var systemQueuedBytes: Int { get }
  /// The device has connected elsewhere, or a person asked for it: end this session.
  func endSession(reason: String)
  /// A person did something to an app on the phone; only our own simulated device understands it.
  func appChanged(_ topic: TopicHash, _ change: AppChange)
  /// How the device is connected.
  var way: DeviceWay { get }
}

extension CourierOutlet {
  public var way: DeviceWay { .courier }
}

/// How a device is connected.
public enum DeviceWay: String, Sendable, CaseIterable {
  /// By the protocol that iPhones speak.
  case courier
  /// By a stream of the console (`Documentation/console-api.md#devices-without-a-device-client`).
  case stream
}

/// What a person can do to an app on a phone, or to the phone.
public enum AppChange: String, Sendable, CaseIterable {
  case install, update, reinstall, remove, erase, restore

  /// Whether it is done to the phone, and not to one of its apps.
  public var isOfPhone: Bool { self == .erase || self == .restore }
}
