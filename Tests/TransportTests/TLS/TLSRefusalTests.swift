import Testing
import Transport

@Suite("A refused TLS connection")
struct TLSRefusalTests {
  /// As TLS 1.2 and 1.3 tell of it (OpenSSL, `ssl/ssl_err.c`).
  @Test(
    "is told in the same words whenever it came",
    arguments: ["handshake failed: tlsv1 alert unknown ca", "TLS: tlsv1 alert unknown ca"])
  func words(reason: String) throws {
    let refusal = try #require(TLSRefusal(reason))
    #expect("\(refusal)" == #"the service refused the TLS connection with the alert "unknown ca""#)
  }

  @Test(
    "is nothing else",
    arguments: ["handshake failed: certificate verify failed", "can't connect: Connection refused", "closed"])
  func other(reason: String) { #expect(TLSRefusal(reason) == nil) }
}
