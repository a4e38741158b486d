import Broker
import PushModel

/// Tokens that differ wherever their inputs differ.
final class FakeDerivation: TokenDerivation {
  func topicHash(_ topic: Topic) -> TopicHash { TopicHash(topic) }

  func appToken(environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32) -> DeviceToken {
    token(udid.text, topicHash.bytes + [environment.rawValue], install)
  }

  func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken {
    token(udid.text, [environment.rawValue], -identity)
  }

  private func token(_ text: String, _ bytes: [UInt8], _ count: Int32) -> DeviceToken {
    var hash = UInt64(bitPattern: Int64(count)) ^ 0xcbf2_9ce4_8422_2325
    for byte in Array(text.utf8) + [0] + bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let words = (1...4).map { (hash ^ hash >> 31) &* (0x9e37_79b9_7f4a_7c15 &+ $0) }
    return words.withUnsafeBytes { DeviceToken(loadingFrom: $0.baseAddress.unsafelyUnwrapped) }
  }
}

/// A device's connection in memory.
final class FakePhone: CourierOutlet {
  private(set) var received: [UInt32] = []
  private(set) var endReasons: [String] = []
  private(set) var changes: [AppChange] = []
  var unsentBytes = 0
  var systemQueuedBytes = 0
  var session: DeviceSession?
  private(set) lazy var link = DeviceLink(outlet: self)
  private let connectedAt: Timestamp

  init(_ now: Timestamp) { connectedAt = now }

  func deliver(_ message: OutgoingMessage) { received.append(message.messageId) }
  func deliver(_ broadcast: ChannelTable.Broadcast, channel: [UInt8], token: DeviceToken, topic: TopicHash) {}
  func endSession(reason: String) { endReasons.append(reason) }
  func appChanged(_ topic: TopicHash, _ change: AppChange) { changes.append(change) }
}
