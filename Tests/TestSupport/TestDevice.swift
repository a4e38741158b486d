import Basics
import Broker
import PushModel

/// A device's connection in memory. Takes what it is given; acknowledges only when told to.
package final class TestDevice: CourierOutlet {
  package struct Received: Equatable {
    package var text: String
    package var token: DeviceToken
    package var topic: TopicHash
    package var messageId: UInt32
    package var storageFlags: UInt8
    package var expiry: UInt32
    package var receivedAt: Timestamp
    package var priority: Priority
    package var pushType: PushType?
    package var collapseId: String?
  }

  package private(set) var received: [Received] = []
  package private(set) var broadcasts: [String] = []
  package private(set) var endReasons: [String] = []
  package private(set) var changes: [AppChange] = []
  package var unsentBytes = 0 { didSet { link.noteUnsent(unsentBytes) } }
  package var systemQueuedBytes = 0
  package private(set) lazy var link = DeviceLink(outlet: self)
  package var session: DeviceSession?
  private let connectedAt: Timestamp

  package init(connectedAt: Timestamp) { self.connectedAt = connectedAt }

  package var texts: [String] { received.map(\.text) }
  package var messageIds: [UInt32] { received.map(\.messageId) }

  package func deliver(_ message: OutgoingNotification) -> Int {
    received.append(
      Received(
        text: message.content.payload.text, token: message.token,
        topic: message.topic,
        messageId: message.messageId, storageFlags: message.origin.rawValue, expiry: message.head.expiry,
        receivedAt: message.head.receivedAt, priority: message.head.priority,
        pushType: message.head.pushType, collapseId: message.content.collapseText))
    return unsentBytes
  }

  package func deliver(
    _ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash
  ) {
    broadcasts.append(String(decoding: broadcast.payload, as: UTF8.self))
  }

  package func endSession(reason: String) { endReasons.append(reason) }

  package func appChanged(_ topic: TopicHash, _ change: AppChange) { changes.append(change) }
}
