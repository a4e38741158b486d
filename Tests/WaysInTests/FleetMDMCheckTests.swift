import Basics
import PushModel
import Testing
import Transport
import WaysIn

/// Fleet's contract, row by row (`Documentation/mdm.md#fleets-load-test`).
@Suite("What Fleet's mock takes")
struct FleetMDMCheckTests {
  private let now = Timestamp(seconds: 1_700_000_000)

  private func judge(
    _ fields: [HTTPField] = [], body: String = #"{"mdm":"x"}"#, hex: String = "746f6b656e"
  ) throws(FleetMDMRefusal) -> FleetMDMCheck.Push {
    let request = HTTPRequest("POST", "/3/device/x", fields: fields, body: Array(body.utf8))
    guard let request else { throw FleetMDMRefusal(.badPath) }
    return try FleetMDMCheck.judge(request, hex: hex, now: now)
  }

  private func refusal(
    _ fields: [HTTPField] = [], body: String = #"{"mdm":"x"}"#, hex: String = "746f6b656e"
  ) -> Rejection? {
    do throws(FleetMDMRefusal) {
      _ = try judge(fields, body: body, hex: hex)
      return nil
    } catch { return error.rejection }
  }

  @Test("a push without any field is taken, and waits for a day")
  func plain() throws {
    let push = try judge()
    #expect(push.apnsID == nil && push.token.hex == "746f6b656e")
    #expect(push.expiration == 1_700_086_400)
  }

  @Test("an id is a UUID")
  func ids() throws {
    let id = "ec1bf194-b3b2-424b-89a9-5a918a6e6b5c"
    #expect(try judge([HTTPField("apns-id", id)]).apnsID?.description == id)
    for text in ["", "1", id + "0"] { #expect(refusal([HTTPField("apns-id", text)]) == .badMessageId) }
  }

  @Test("the push type is mdm or not said")
  func types() {
    #expect(refusal([HTTPField("apns-push-type", "mdm")]) == nil)
    for type in ["alert", "MDM", "", "background"] {
      #expect(refusal([HTTPField("Apns-Push-Type", type)]) == .invalidPushType)
    }
  }

  @Test("an expiration is honoured, 0 is now or never, and what is no number is refused")
  func expirations() throws {
    for (text, seconds) in [("0", 0), ("1700000009", 1_700_000_009), ("99999999999999", UInt32.max)] {
      #expect(try judge([HTTPField("apns-expiration", text)]).expiration == seconds)
    }
    for text in ["", "soon", "-1", "1.5", "99999999999999999999"] {
      #expect(refusal([HTTPField("apns-expiration", text)]) == .badExpirationDate)
    }
  }

  @Test("a payload has 1 to 4096 bytes")
  func payloads() {
    #expect(refusal(body: String(repeating: "x", count: 4096)) == nil)
    #expect(refusal(body: "") == .payloadEmpty)
    #expect(refusal(body: String(repeating: "x", count: 4097)) == .payloadTooLarge)
  }

  @Test("a token is any even number of hexadecimal digits")
  func tokens() {
    for hex in ["00", "746F6b", String(repeating: "a", count: 200)] { #expect(refusal(hex: hex) == nil) }
    for hex in ["a", "zz", "746f6b6", "74 6f"] { #expect(refusal(hex: hex) == .badDeviceToken) }
    #expect(refusal(hex: "") == .missingDeviceToken)
    #expect(throws: FleetMDMRefusal(.missingDeviceToken)) { try FleetMDMCheck.token(nil) }
  }
}
