import Basics
import Testing

import Bridge

@Suite("Answers of the other service")
struct ForwardVerdictTests {
  private func verdict(_ status: Int, _ body: String = "") -> ForwardVerdict {
    ForwardVerdict(status: status, body: Array(body.utf8))
  }

  /// `Documentation/provider-api.md#reasons`, the column "retry", and `Documentation/binary-protocol.md#error-packet`
  /// for the status bytes.
  @Test(
    "each reason is a rejection with its status byte, unknown ones 255",
    arguments: [
      (400, "BadDeviceToken", 8), (400, "DeviceTokenNotForTopic", 8), (400, "PayloadEmpty", 4),
      (413, "PayloadTooLarge", 7), (400, "MissingTopic", 3), (403, "InvalidProviderToken", 1),
      (400, "NobodyKnowsThis", 255), (404, "", 255), (400, "Shutdown", 255),
    ])
  func rejected(status: Int, reason: String, byte: UInt8) {
    guard case .rejected(let rejection) = verdict(status, #"{"reason":"\#(reason)"}"#) else {
      Issue.record("not a rejection")
      return
    }
    #expect(rejection.legacyStatus == byte)
  }

  @Test("200 is success, whatever else comes")
  func delivered() {
    #expect(verdict(200) == .delivered)
    #expect(verdict(200, "{") == .delivered)
  }

  @Test("410 is a token that is gone since the time it says")
  func gone() {
    let moment = Timestamp(nanoseconds: 1_700_000_000_123_000_000)
    #expect(verdict(410, #"{"reason":"Unregistered","timestamp":1700000000123}"#) == .gone(moment))
    #expect(verdict(410, #"{"reason":"ExpiredToken"}"#) == .gone(nil))
    #expect(verdict(410, #"{"timestamp":9223372036854775807}"#) == .gone(nil))
    #expect(verdict(410, #"{"timestamp":"soon"}"#) == .gone(nil))
  }

  @Test("429 for one device holds that push back; everything else that is not now holds all back")
  func later() {
    #expect(verdict(429, #"{"reason":"TooManyRequests"}"#) == .retryLater)
    #expect(verdict(429, #"{"reason":"TooManyProviderTokenUpdates"}"#) == .unavailable)
    for status in [429, 500, 502, 503] { #expect(verdict(status) == .unavailable) }
    #expect(verdict(403, #"{"reason":"ExpiredProviderToken"}"#) == .tokenExpired)
  }

  @Test("for people an answer is its status and its reason, and nothing that could break a line")
  func text() {
    #expect(ForwardVerdict.text(status: 200, body: []) == "200")
    #expect(
      ForwardVerdict.text(status: 400, body: Array(#"{"reason":"Bad\nDevice\u001bToken"}"#.utf8))
        == "400 BadDeviceToken")
    let long = Array(#"{"reason":"\#(String(repeating: "a", count: 9000))"}"#.utf8)
    #expect(ForwardVerdict.text(status: 400, body: long).count == 4 + 64)
  }
}
