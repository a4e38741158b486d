import CourierWire
import PushModel
import SimulatedDevice
import Testing

/// `Documentation/commands.md#events-of-a-device`.
@Suite("Device events")
struct DeviceEventTests {
  private let topic: Topic
  private let token = DeviceToken(loading: 0x0101_0101_0101_0101)
  private let tokenHex = String(repeating: "01", count: 32)

  init() throws { topic = try #require(Topic("com.example.app")) }

  private func message(_ payload: [UInt8]) -> CourierMessage {
    CourierMessage(token: token, topic: TopicHash(topic), payload: payload, messageId: 1)
  }

  private func line(_ message: CourierMessage) -> String {
    DeviceEvent.notification(DeviceNotification(message, topic: topic)).jsonLine
  }

  @Test("are JSON lines as the interface has them")
  func jsonLines() throws {
    let udid = try #require(UDID("device-1"))
    #expect(DeviceEvent.activated(udid).jsonLine == #"{"event":"activated","udid":"device-1"}"#)
    #expect(
      DeviceEvent.connected(baseToken: token).jsonLine == #"{"event":"connected","baseToken":"\#(tokenHex)"}"#
    )
    #expect(
      DeviceEvent.token(TokenNeed(topic), token).jsonLine
        == #"{"event":"token","topic":"com.example.app","token":"\#(tokenHex)"}"#)
    #expect(
      DeviceEvent.disconnected(reason: "a \"b\"").jsonLine == #"{"event":"disconnected","reason":"a \"b\""}"#)
    #expect(
      DeviceEvent.app(topic, .removed).jsonLine
        == #"{"event":"app","topic":"com.example.app","action":"removed"}"#)
    #expect(DeviceEvent.erased(udid).jsonLine == #"{"event":"erased","udid":"device-1"}"#)
    #expect(
      DeviceEvent.tokenRefused(TokenNeed(topic), status: 1).jsonLine
        == #"{"event":"tokenRefused","topic":"com.example.app","status":1}"#)
  }

  @Test("a notification has all its fields")
  func notification() {
    var message = message(Array("{\n \"aps\" : {\"alert\":\"hi\"} }".utf8))
    (message.priority, message.expiry, message.storageFlags) = (10, 1_700_000_000, 3)
    message.tracingIdentifier = Array(0..<16)
    let expected =
      #"{"event":"notification","topic":"com.example.app","token":"\#(tokenHex)","#
      + #""apnsId":"00010203-0405-0607-0809-0a0b0c0d0e0f","priority":10,"expiration":"2023-11-14T22:13:20.000Z","#
      + #""payload":{"aps":{"alert":"hi"}},"payloadBase64":"ewogImFwcyIgOiB7ImFsZXJ0IjoiaGkifSB9","fromStore":true}"#
    #expect(line(message) == expected)
  }

  @Test("what a notification does not have is null, and so is a payload that is not JSON")
  func nulls() {
    var message = message([0xff, 0x0a])
    message.expiry = CourierMessage.noExpiry
    message.tracingIdentifier = [1, 2, 3]
    let expected =
      #"{"event":"notification","topic":"com.example.app","token":"\#(tokenHex)","apnsId":null,"priority":null,"#
      + #""expiration":null,"payload":null,"payloadBase64":"/wo=","fromStore":false}"#
    #expect(line(message) == expected)
  }

  @Test("the identifier may be text, and the store flag in either place")
  func variants() {
    var message = message(Array("1".utf8))
    message.tracingIdentifier = Array("11111111-2222-4333-8444-555555555555".utf8)
    (message.storageFlags, message.storageFlagsToo) = (0, 1)
    let notification = DeviceNotification(message, topic: topic)
    #expect(notification.apnsId == "11111111-2222-4333-8444-555555555555")
    #expect(notification.isFromStore)
  }

  @Test("are one line for people, which cannot drive their terminal")
  func textLines() {
    let payload = Array("{\"alert\":\"a\u{9b}31m\u{202e}b\\n\"}".utf8)
    let text = DeviceEvent.notification(DeviceNotification(message(payload), topic: topic)).textLine
    #expect(text == "notification  com.example.app  {\"alert\":\"a\\u{9b}31m\\u{202e}b\\n\"}")
    var kept = message([1, 2])
    kept.storageFlags = 1
    #expect(
      DeviceEvent.notification(DeviceNotification(kept, topic: topic)).textLine
        == "notification  com.example.app  2 bytes that are not JSON  (stored while offline)")
    #expect(
      DeviceEvent.token(TokenNeed(topic), token).textLine == "token         com.example.app  \(tokenHex)")
  }
}
