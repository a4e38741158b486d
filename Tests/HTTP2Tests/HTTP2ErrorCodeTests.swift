import Testing
import Transport

@Suite("HTTP/2 error codes")
struct HTTP2ErrorCodeTests {
  @Test(
    "are named as in RFC 9113 section 7",
    arguments: [
      (0, "NO_ERROR (0)"), (7, "REFUSED_STREAM (7)"), (11, "ENHANCE_YOUR_CALM (11)"),
      (13, "HTTP_1_1_REQUIRED (13)"),
      (14, "code 14"), (UInt32.max, "code 4294967295"),
    ])
  func names(_ number: UInt32, _ name: String) {
    #expect(HTTP2ErrorCode(rawValue: number).description == name)
  }
}
