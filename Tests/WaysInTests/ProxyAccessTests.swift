import Basics
import Testing
import WaysIn

import Transport

@Suite("Who may use the proxy")
struct ProxyAccessTests {
  private static let token = "0123456789abcdef"

  private static func basic(_ text: String) -> String { "Basic \(Base64.encode(Array(text.utf8)))" }

  private func status(_ fields: [String], of access: ProxyAccess = ProxyAccess(token: token)) throws -> Int? {
    let request = try #require(
      HTTPRequest("CONNECT", "/", fields: fields.map { HTTPField("Proxy-Authorization", $0) }))
    return access.refusal(of: request)?.status
  }

  @Test("on loopback everybody")
  func loopback() throws { #expect(try status([], of: ProxyAccess(token: nil)) == nil) }

  @Test(
    "beyond it who brings the token, in any of the ways that clients know",
    arguments: [
      "Bearer \(token)", "bearer \(token)", basic("access:\(token)"), basic("any:\(token)"), basic(token),
      basic("\(token):"), basic(":\(token)"),
    ])
  func admitted(field: String) throws { #expect(try status([field]) == nil) }

  @Test(
    "and nobody else",
    arguments: [
      "", "Bearer", "Bearer ", "Bearer 0123456789abcdeF", "Bearer 0123456789abcde",
      "Bearer 0123456789abcdef0",
      token, "Basic \(token)", "Basic ====", "Basic /w==", basic("access:wrong"), basic("\(token):wrong"),
      basic("access:\(token):x"), "Digest \(token)", "Bearer \(token) \(token)",
    ])
  func refused(field: String) throws { #expect(try status([field]) == 407) }

  @Test("who brings nothing is told how to")
  func challenge() throws {
    let request = try #require(HTTPRequest("CONNECT", "/"))
    let refusal = try #require(ProxyAccess(token: Self.token).refusal(of: request))
    #expect(refusal.status == 407)
    #expect(refusal.field("Proxy-Authenticate") == "Basic realm=\"apns-emulator\"")
    #expect(!String(decoding: refusal.body, as: UTF8.self).contains(Self.token))
  }

  @Test("the console's field is not the proxy's")
  func consoleField() throws {
    let field = HTTPField("Authorization", "Bearer \(Self.token)")
    let request = try #require(HTTPRequest("CONNECT", "/", fields: [field]))
    #expect(ProxyAccess(token: Self.token).refusal(of: request)?.status == 407)
  }
}
