import Testing
import Transport

@Suite("Statuses that an HTTP/2 client is told")
struct HTTP2ClientStatusTests {
  /// Three digits each, as nghttp2 lets nothing else through.
  @Test("count from 100 on", arguments: [("051", false), ("000", false), ("200", true), ("999", true)])
  func counted(_ status: String, _ isAnswer: Bool) throws {
    let session = try #require(HTTP2ClientSession())
    try #require(session.submit(HTTP2RequestHead(authority: "localhost"), path: "/", body: []))
    session.drainOutput { _ in }
    // SETTINGS; HEADERS with END_STREAM and END_HEADERS: a literal value for the name `:status` (RFC 7541 6.2.1).
    let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
    let headers: [UInt8] = [0, 0, 5, 1, 5, 0, 0, 0, 1, 0x48, 3] + Array(status.utf8)
    _ = session.receive((settings + headers).span)
    switch try #require(session.nextEvent()) {
    case .answered(let stream): #expect(isAnswer && stream.status == Int(status))
    case .reset: #expect(!isAnswer)
    }
  }
}
