import Testing

import Transport

/// What a GOAWAY means for requests (RFC 9113 6.8).
@Suite("A client that is told to go away")
struct HTTP2ClientGoAwayTests {
  /// SETTINGS with MAX_CONCURRENT_STREAMS (RFC 9113 6.5.2).
  private func settings(streams: UInt32) -> [UInt8] {
    RawFrame.frame(4, 0, 0, [0, 3] + RawFrame.word(streams))
  }

  private func goAway(last: UInt32) -> [UInt8] {
    RawFrame.frame(7, 0, 0, RawFrame.word(last) + RawFrame.word(0))
  }

  @Test("keeps what is answered, and hears that all others were not looked at, whether they had left or not")
  func outcomes() throws {
    let pair = try HTTP2Pair()
    #expect(pair.clientReceives(settings(streams: 2)) == .taken)
    for context in 1...4 { pair.submit(context: context) }
    pair.client.drainOutput { _ in }
    #expect(pair.clientReceives(goAway(last: 1)) == .taken)
    pair.client.drainOutput { _ in }
    #expect(pair.clientReceives(RawFrame.headers(1, [(":status", "200")])) == .taken)
    pair.client.drainOutput { _ in }
    let outcomes = pair.outcomes()
    #expect(outcomes[1] == .answered(200, [":status: 200"], []))
    for context in 2...4 { #expect(outcomes[context] == .reset(.refusedStream), "request \(context)") }
    #expect(pair.client.openStreams == 0)
  }
}
