import Basics
import Testing

import Transport

/// Answers that say only that the request goes on (RFC 9110 15.2, RFC 9113 8.1).
@Suite("HTTP/2 interim answers")
struct HTTP2InterimTests {
  private let interim =
    RawFrame.headers(
      1, [(":status", "103"), ("apns-id", "of 103"), ("link", "a")], flags: RawFrame.endHeaders)
    + RawFrame.headers(1, [(":status", "100")], flags: RawFrame.endHeaders)

  /// What a client with one request concludes from these frames.
  private func outcome(of frames: [UInt8]) throws -> HTTP2Pair.Outcome? {
    let pair = try HTTP2Pair()
    pair.submit(context: 1)
    pair.client.drainOutput { _ in }
    #expect(pair.clientReceives(RawFrame.settings + frames) == .taken)
    return pair.outcomes()[1]
  }

  @Test("the final answer counts, with its fields and its body alone")
  func skipped() throws {
    let body = Array(#"{"reason":"Unregistered"}"#.utf8)
    let final = RawFrame.headers(1, [(":status", "410"), ("apns-id", "of 410")], flags: RawFrame.endHeaders)
    #expect(
      try outcome(of: interim + final + RawFrame.data(1, body))
        == .answered(410, [":status: 410", "apns-id: of 410"], body))
    let bare = RawFrame.headers(1, [(":status", "200")])
    #expect(try outcome(of: interim + bare) == .answered(200, [":status: 200"], []))
  }

  @Test("a stream that ends behind an interim answer has none")
  func alone() throws {
    #expect(try outcome(of: interim) == nil)
    #expect(try outcome(of: interim + RawFrame.reset(1, 0)) == .reset(.noError))
  }
}
