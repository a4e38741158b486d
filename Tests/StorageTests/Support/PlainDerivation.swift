import Broker
import PushModel

/// Tokens that differ wherever their inputs differ; nothing secret about them.
struct PlainDerivation: TokenDerivation {
  func topicHash(_ topic: Topic) -> TopicHash { TopicHash(topic) }

  func appToken(environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32) -> DeviceToken {
    token(udid.text, topicHash.bytes + [environment.rawValue], install)
  }

  func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken {
    token(udid.text, [environment.rawValue], identity)
  }

  private func token(_ text: String, _ bytes: [UInt8], _ count: Int32) -> DeviceToken {
    var hash = UInt64(truncatingIfNeeded: count) ^ 0xcbf2_9ce4_8422_2325
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let words = (1...4).map { (hash ^ hash >> 31) &* (0x9e37_79b9_7f4a_7c15 &+ $0) }
    return words.withUnsafeBytes { DeviceToken(loadingFrom: $0.baseAddress.unsafelyUnwrapped) }
  }
}
