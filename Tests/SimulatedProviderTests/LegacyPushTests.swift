import Basics
import LegacyWire
import SimulatedProvider
import Testing

/// Expected bytes are those of `Documentation/binary-protocol.md#frames`.
@Suite("Pushes of a legacy provider")
struct LegacyPushTests {
  private static let token = [UInt8](0...31)
  private static let payload = Array(#"{"aps":{"alert":"Hi"}}"#.utf8)
  private static let tokenHex = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
  private static let payloadHex = "7b22617073223a7b22616c657274223a224869227d7d"

  private static func frame(
    _ command: LegacyCommand, identifier: UInt32 = 42, expiration: UInt32? = nil, priority: UInt8? = nil
  ) -> String {
    var push = LegacyPush(command: command, token: token, payload: payload, identifier: identifier)
    (push.expiration, push.priority) = (expiration, priority)
    return Hex.encode(push.frame)
  }

  @Test("command 0 has token and payload")
  func simple() {
    #expect(Self.frame(.simple) == "000020" + Self.tokenHex + "0016" + Self.payloadHex)
    #expect(
      Self.frame(.simple, expiration: 1, priority: 5) == Self.frame(.simple), "there is no room for more")
  }

  @Test("command 1 has identifier and expiry too")
  func enhanced() {
    #expect(
      Self.frame(.enhanced, expiration: 1_700_000_000)
        == "010000002a6553f1000020" + Self.tokenHex + "0016" + Self.payloadHex)
  }

  @Test("command 1 without an expiry says 0")
  func enhancedWithoutExpiry() {
    #expect(
      Self.frame(.enhanced, identifier: 43)
        == "010000002b000000000020" + Self.tokenHex + "0016" + Self.payloadHex)
  }

  @Test("command 2 has all five items")
  func full() {
    #expect(
      Self.frame(.frame, expiration: 1_700_000_000, priority: 10)
        == "020000004e010020" + Self.tokenHex + "020016" + Self.payloadHex
        + "0300040000002a0400046553f1000500010a")
  }

  @Test("command 2 leaves out what is not said")
  func optionalItems() {
    #expect(
      Self.frame(.frame)
        == "02" + "00000043" + "010020" + Self.tokenHex + "020016" + Self.payloadHex + "0300040000002a")
  }
}
