import Testing

import Transport

@Suite("Addresses of web servers")
struct WebAddressTests {
  @Test(
    "what a request needs is in it",
    arguments: [
      ("http://example.com", "example.com:80", "/", "example.com"),
      ("https://example.com/a/b?c=d", "example.com:443", "/a/b?c=d", "example.com"),
      ("HTTPS://example.com:443?x", "example.com:443", "/?x", "example.com"),
      ("http://example.com:443/", "example.com:443", "/", "example.com:443"),
      ("http://[::1]:8080/x", "[::1]:8080", "/x", "[::1]:8080"),
      ("https://[::1]", "[::1]:443", "/", "[::1]"),
    ])
  func read(text: String, server: String, target: String, authority: String) throws {
    let url = try #require(WebAddress(text))
    #expect(url.server.description == server && url.target == target && url.authority == authority)
    #expect(url.isSecure == text.lowercased().hasPrefix("https"))
  }

  @Test(
    "what is no such address is told apart",
    arguments: [
      "", "example.com", "ftp://example.com", "http://", "http:///x", "http://:80/", "http://a:/",
      "http://a:0/",
      "http://a:65536/", "http://user@a/", "http://a/#b", "http://a/b c", "http://a/\u{7f}",
      "http://a/\u{e4}",
      "http://a/\r\nX: y",
      "http://[::1", "http://a:1:2/",
    ])
  func refused(text: String) { #expect(WebAddress(text) == nil) }
}
