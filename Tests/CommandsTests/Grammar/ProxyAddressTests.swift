import Basics
import Commands
import Testing

@Suite("The address of a proxy")
struct ProxyAddressTests {
  private static func basic(_ text: String) -> String { "Basic \(Base64.encode(Array(text.utf8)))" }

  @Test(
    "is a host and a port, with who asks before it",
    arguments: [
      ("http://127.0.0.1:3128", "127.0.0.1:3128", nil), ("HTTP://proxy:3128/", "proxy:3128", nil),
      ("proxy:3128", "proxy:3128", nil), ("http://[::1]:3128", "[::1]:3128", nil),
      ("http://me:word@proxy:3128", "proxy:3128", basic("me:word")),
      ("me:p%40ss%3a%25@proxy:3128", "proxy:3128", basic("me:p@ss:%")),
      ("http://me:p@ss@proxy:3128", "proxy:3128", basic("me:p@ss")),
      ("http://token@proxy:3128", "proxy:3128", basic("token:")),
      ("http://:word@proxy:3128", "proxy:3128", basic(":word")),
    ] as [(String, String, String?)])
  func good(text: String, address: String, authorization: String?) throws {
    let proxy = try #require(ProxyAddress(text))
    #expect(proxy.address.description == address)
    #expect(proxy.authorization == authorization)
  }

  @Test(
    "anything else is none",
    arguments: [
      "", "http://", "proxy", "http://proxy", "http://proxy:0", "http://proxy:70000", "https://proxy:3128",
      "socks5://proxy:1080", "https://me:word@proxy:3128", "http://proxy:3128/path",
      "http://me:%4@proxy:3128", "http://me:%zz@proxy:3128",
      "http://@:3128", "http://a b:3128",
    ])
  func bad(text: String) { #expect(ProxyAddress(text) == nil) }
}
