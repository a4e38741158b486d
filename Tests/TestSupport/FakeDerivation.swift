import Broker
import PushModel

/// Tokens that differ wherever their inputs differ, unless a test wants them to collide.
package final class FakeDerivation: TokenDerivation {
  /// Installs from this number on get the token of the install before.
  package var collidesFromInstall: Int32?

  package init() {}

  package func appToken(
    environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32, context: TokenContext? = nil
  ) -> DeviceToken {
    let part = Array((context?.text ?? "").utf8)
    let number = collidesFromInstall.map { min(install, $0 - 1) } ?? install
    return token(udid.text, topicHash.bytes + [environment.rawValue] + part, number)
  }

  package func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken {
    token(udid.text, [environment.rawValue], -identity)
  }

  package func name(ofCustom bytes: [UInt8]) -> DeviceToken { token("chosen", bytes, 0) }

  private func token(_ text: String, _ bytes: [UInt8], _ count: Int32) -> DeviceToken {
    var hash = UInt64(bitPattern: Int64(count)) ^ 0xcbf2_9ce4_8422_2325
    for byte in Array(text.utf8) + [0] + bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let words = (1...4).map { (hash ^ hash >> 31) &* (0x9e37_79b9_7f4a_7c15 &+ $0) }
    return DeviceToken(words.span.memory) ?? DeviceToken()
  }
}
