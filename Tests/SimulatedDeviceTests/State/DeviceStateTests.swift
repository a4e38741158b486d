import PushModel
import SimulatedDevice
import Testing

@Suite("Device state")
struct DeviceStateTests {
  private func state() throws -> DeviceState {
    DeviceState(
      udid: try #require(UDID("device-1")), baseToken: DeviceToken(loading: 1),
      apps: [
        .init(TokenNeed(try #require(Topic("a"))), token: DeviceToken(loading: 2)),
        .init(TokenNeed(try #require(Topic("b")))),
      ])
  }

  @Test("is read as it was written")
  func roundTrip() throws {
    let state = try state()
    #expect(try DeviceState(json: state.json.encoded) == state)
    let fresh = DeviceState(udid: state.udid)
    #expect(try DeviceState(json: fresh.json.encoded) == fresh)
    #expect(fresh.json.text == #"{"udid":"device-1","baseToken":null,"apps":[]}"#)
  }

  @Test("may have more members than are known: a later version has written it")
  func later() throws {
    let json =
      #"{"udid":"device-1","baseToken":null,"apps":[{"topic":"a","token":null,"badge":3}],"name":"Mine"}"#
    let state = try DeviceState(json: Array(json.utf8))
    #expect(state.udid == UDID("device-1") && state.apps.map(\.topic) == [Topic("a")])
  }

  @Test(
    "is not made of what cannot be one",
    arguments: [
      "", "[]", "{}", #"{"udid":"","apps":[]}"#, #"{"udid":"a"}"#, #"{"udid":"../a","apps":[]}"#,
      #"{"udid":"a","baseToken":"00","apps":[]}"#, #"{"udid":"a","apps":[{"topic":"a b"}]}"#,
      #"{"udid":"a","apps":[{"topic":"a","token":"zz"}]}"#,
    ])
  func unreadable(json: String) {
    #expect(throws: DeviceState.UnreadableError.self) { try DeviceState(json: Array(json.utf8)) }
  }
}
