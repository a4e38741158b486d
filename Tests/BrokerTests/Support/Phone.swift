import PushModel

@testable import Broker

/// A device's connection in memory. Takes what it is given; acknowledges only when told to.
final class Phone: CourierOutlet {
  struct Received: Equatable {
    var text: String
    var token: DeviceToken
    var topic: TopicHash
    var messageId: UInt32
    var storageFlags: UInt8
    var expiry: UInt32
    var receivedAt: Timestamp
    var priority: Priority
  }

  private(set) var received: [Received] = []
  private(set) var broadcasts: [String] = []
  private(set) var endReasons: [String] = []
  private(set) var changes: [AppChange] = []
  var unsentBytes = 0
  var systemQueuedBytes = 0
  private(set) lazy var link = DeviceLink(outlet: self)
  var session: DeviceSession?
  private let connectedAt: Timestamp

  init(connectedAt: Timestamp) { self.connectedAt = connectedAt }

  var texts: [String] { received.map(\.text) }

  func deliver(_ message: OutgoingMessage) {
    received.append(
      Received(
        text: String(decoding: message.payload, as: UTF8.self), token: message.token, topic: message.topic,
        messageId: message.messageId, storageFlags: message.storageFlags, expiry: message.expiry,
        receivedAt: message.receivedAt, priority: message.priority))
  }

  func deliver(_ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash) {
    broadcasts.append(String(decoding: broadcast.payload, as: UTF8.self))
  }

  func endSession(reason: String) { endReasons.append(reason) }

  func appChanged(_ topic: TopicHash, _ change: AppChange) { changes.append(change) }
}
