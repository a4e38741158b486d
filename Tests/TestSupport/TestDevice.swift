import Broker
import PushModel

/// A device's connection in memory. Takes what it is given; acknowledges only when told to.
public final class TestDevice: CourierOutlet {
  public struct Received: Equatable {
    public var text: String
    public var token: DeviceToken
    public var topic: TopicHash
    public var messageId: UInt32
    public var storageFlags: UInt8
    public var expiry: UInt32
    public var receivedAt: Timestamp
    public var priority: Priority
    public var pushType: PushType?
    public var collapseId: String?
  }

  public private(set) var received: [Received] = []
  public private(set) var broadcasts: [String] = []
  public private(set) var endReasons: [String] = []
  public private(set) var changes: [AppChange] = []
  public var unsentBytes = 0 { didSet { link.noteUnsent(unsentBytes) } }
  public var systemQueuedBytes = 0
  public private(set) lazy var link = DeviceLink(outlet: self)
  public var session: DeviceSession?
  private let connectedAt: Timestamp

  public init(connectedAt: Timestamp) { self.connectedAt = connectedAt }

  public var texts: [String] { received.map(\.text) }
  public var messageIds: [UInt32] { received.map(\.messageId) }

  public func deliver(_ message: OutgoingNotification) -> Int {
    received.append(
      Received(
        text: String(decoding: message.content.payload, as: UTF8.self), token: message.token,
        topic: message.topic,
        messageId: message.messageId, storageFlags: message.origin.rawValue, expiry: message.head.expiry,
        receivedAt: message.head.receivedAt, priority: message.head.priority,
        pushType: message.head.pushType, collapseId: message.content.collapseText))
    return unsentBytes
  }

  public func deliver(
    _ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash
  ) {
    broadcasts.append(String(decoding: broadcast.payload, as: UTF8.self))
  }

  public func endSession(reason: String) { endReasons.append(reason) }

  public func appChanged(_ topic: TopicHash, _ change: AppChange) { changes.append(change) }
}
