import Basics
import LegacyWire
import SimulatedProvider
import Testing

@Suite("Series of pushes")
struct SeriesTests {
  private let series = LegacySeries(count: 10, firstIdentifier: .max - 2, nanoseconds: 2_000_000)

  private func error(_ status: UInt8, _ identifier: UInt32) -> LegacyOutcome {
    .error(LegacyErrorPacket(status: status, identifier: identifier))
  }

  /// `Documentation/binary-protocol.md#error-packet`.
  @Test("what was accepted is what came before the packet's, with it for a shutdown")
  func accepted() {
    #expect(series.accepted(.silence) == 10)
    #expect(series.accepted(.closed) == nil)
    #expect(series.accepted(error(8, .max - 2)) == 0)
    #expect(series.accepted(error(8, 1)) == 4, "identifiers wrap around")
    #expect(series.accepted(error(10, 1)) == 5)
    #expect(series.accepted(error(2, 0x100)) == nil, "one that was not given out")
  }

  @Test("tell how many, and how fast")
  func json() {
    let fine = series.json(.silence, command: .frame).text
    #expect(
      fine
        == #"{"interface":"gateway","command":2,"accepted":true,"count":10,"acceptedCount":10,"milliseconds":2,"perSecond":5000,"measured":"until the last byte was handed to the system"}"#
    )
    let refused = series.json(error(8, 1), command: .enhanced).text
    #expect(refused.contains(#""status":8,"identifier":1,"#))
    #expect(refused.contains(#""acceptedCount":4,"resend":5,"#))
    #expect(series.json(error(10, 1), command: .frame).text.contains(#""acceptedCount":5,"resend":5,"#))
    #expect(series.json(.closed, command: .simple).text.contains(#""acceptedCount":null,"milliseconds""#))
  }

  @Test("over HTTP/2 are counted by what became of each")
  func tally() {
    var tally = PushTally()
    for _ in 0..<3 { tally.answered(status: 200, reason: nil) }
    for _ in 0..<2 { tally.answered(status: 400, reason: "BadDeviceToken") }
    tally.answered(status: 500, reason: nil)
    tally.wentUnanswered()
    #expect(tally.count == 7)
    let counts = #""count":8,"acceptedCount":3,"rejectedCount":3,"unansweredCount":2,"#
    let reasons = #""reasons":{"BadDeviceToken":2,"status 500":1}}"#
    let text = tally.json(of: 8, nanoseconds: nil).text
    #expect(text == #"{"interface":"provider","accepted":false,"# + counts + reasons)
  }
}
