import LegacyWire
import PushModel
import TestSupport
import Testing

import Capture

@Suite("A capture that an earlier tree wrote")
struct CaptureOfBeforeTests {
  @Test("has what providers said and heard")
  func reading() throws {
    let batch = try Lines.read(TreeBefore.bytes("capture.ndjson"))
    // The first three requests are what came with the saved state.
    #expect(
      batch.entries.map(\.kind) == [
        .header, .opened, .request, .request, .request, .request, .opened, .frame, .frame, .closed,
      ])
    #expect(batch.connections.map(\.interface) == [.console, .gateway])
    #expect(batch.connections.map(\.topic) == [nil, "com.example.app"])
    let (push, frame, refused) = (batch.entries[5], batch.entries[7], batch.entries[8])
    #expect(batch.content(push).text.contains(#"{"aps":{"alert":"adopted"}}"#))
    #expect(
      batch.outcome(push)
        == CapturedOutcome(status: 200, apnsID: APNSID("FEDCBA98-7654-3210-FEDC-BA9876543210")))
    let payload = Array(#"{"aps":{"alert":"binary"}}"#.utf8)
    #expect(
      Array(batch.content(frame))
        == [2, 0, 0, 0, 71, 1, 0, 32] + [UInt8](repeating: 0x88, count: 32) + [2, 0, 26] + payload
        + [3, 0, 4, 0, 0, 0, 7])
    #expect(batch.outcome(frame) == .silence)
    #expect(
      batch.outcome(refused) == CapturedOutcome(status: 2, reason: "MissingDeviceToken", identifier: 0))
  }
}
