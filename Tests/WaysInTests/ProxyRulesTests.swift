import Platform
import PushModel
import Testing
import WaysIn

@Suite("Where the proxy leads")
struct ProxyRulesTests {
  /// Every name of Apple's push service with each port it is on, as the documents have them.
  @Test(
    "Apple's names end in our listeners, in the environment of the name",
    arguments: [
      ("api.push.apple.com:443", ProxyRules.Service.provider, Environment.production),
      ("api.push.apple.com:2197", .provider, .production),
      ("api.sandbox.push.apple.com:443", .provider, .sandbox),
      ("api.sandbox.push.apple.com:2197", .provider, .sandbox),
      ("api.development.push.apple.com:443", .provider, .sandbox),
      ("api.development.push.apple.com:2197", .provider, .sandbox),
      ("API.Push.Apple.Com:443", .provider, .production),
      ("api-broadcast.push.apple.com:443", .provider, .production),
      ("api-broadcast.sandbox.push.apple.com:443", .provider, .sandbox),
      ("api-manage-broadcast.push.apple.com:2196", .feedback, .production),
      ("api-manage-broadcast.sandbox.push.apple.com:2195", .gateway, .sandbox),
      ("gateway.push.apple.com:2195", .gateway, .production),
      ("gateway.sandbox.push.apple.com:2195", .gateway, .sandbox),
      ("feedback.push.apple.com:2196", .feedback, .production),
      ("feedback.sandbox.push.apple.com:2196", .feedback, .sandbox),
      ("courier.push.apple.com:5223", .courier, .production),
      ("17-courier.push.apple.com:5223", .courier, .production),
      ("50-courier.push.apple.com:443", .courier, .production),
      ("1-courier.sandbox.push.apple.com:5223", .courier, .sandbox),
      ("courier.sandbox.push.apple.com:443", .courier, .sandbox),
    ])
  func apple(text: String, service: ProxyRules.Service, environment: Environment) throws {
    let asked = try #require(ProxyRules.target(text))
    #expect(ProxyRules().decision(on: asked) == .service(service))
    #expect(Environment(serverName: asked.host) == environment)
  }

  @Test(
    "nothing else leads anywhere",
    arguments: [
      // Other hosts, and what only looks like Apple's.
      "example.com:443", "localhost:443", "push.apple.com:443", "www.apple.com:443",
      "init.push.apple.com:443",
      "api.push.apple.com.evil.com:443", "evilapi.push.apple.com:443", "api.push.apple.com.:443",
      "evil.com@api.push.apple.com:443", "api.push.apple.com@evil.com:443", "x.api.push.apple.com:443",
      "api%2epush.apple.com:443", "a.b-courier.push.apple.com:5223", "-courier.push.apple.com:5223",
      "x-courier.push.apple.com:5223", "1-2-courier.push.apple.com:5223", "1-api.push.apple.com:443",
      "xn--pi-8ka.push.apple.com:443", "аpi.push.apple.com:443",
      // Addresses.
      "127.0.0.1:2197", "127.0.0.1:443", "17.188.143.34:443", "0.0.0.0:443", "2130706433:443",
      "0x7f000001:443",
      "169.254.169.254:80", "[::1]:2197", "[::]:443", "[::ffff:127.0.0.1]:443", "::1:443",
      // Ports that Apple does not have them on.
      "api.push.apple.com:80", "api.push.apple.com:22", "api.push.apple.com:2195",
      "gateway.push.apple.com:443",
      "gateway.push.apple.com:2196", "feedback.push.apple.com:2195", "courier.push.apple.com:2195",
      "api-manage-broadcast.push.apple.com:2195", "api-manage-broadcast.sandbox.push.apple.com:2196",
      "api.push.apple.com:1", "api.push.apple.com:65535",
    ])
  func strangers(text: String) throws {
    let asked = try #require(ProxyRules.target(text))
    guard case .refused(let sentence) = ProxyRules().decision(on: asked) else {
      Issue.record("\(text) leads somewhere")
      return
    }
    #expect(sentence.contains(asked.host) || sentence.contains(asked.description))
  }

  @Test(
    "what names no host and port is no target",
    arguments: [
      "", ":", ":443", "api.push.apple.com", "api.push.apple.com:", "api.push.apple.com:0",
      "api.push.apple.com:65536", "api.push.apple.com:443443443443443443443", "api.push.apple.com:+443",
      "api.push.apple.com:-443", "api.push.apple.com:443/", "api.push.apple.com:https",
      "api.push.apple.com:443?x",
      "https://api.push.apple.com/", "http://api.push.apple.com:443/3/device", "/", "*", "[]:443",
      "api.push.apple.com:４４３",
    ])
  func noTargets(text: String) { #expect(ProxyRules.target(text) == nil) }

  @Test("the sentence for a wrong port names the right ones")
  func wrongPort() {
    let asked = SocketAddress(host: "api.push.apple.com", port: 444)
    let sentence = "Apple has api.push.apple.com on port 443 or 2197, not on 444"
    #expect(ProxyRules().decision(on: asked) == .refused(sentence))
  }

  @Test("a long name is not repeated in full")
  func longName() {
    let asked = SocketAddress(host: String(repeating: "a", count: 10_000), port: 443)
    guard case .refused(let sentence) = ProxyRules().decision(on: asked) else {
      Issue.record("it leads somewhere")
      return
    }
    #expect(sentence.utf8.count < 600)
  }

  @Test("beyond Apple's names it leads to what the operator has named, whole and on that port")
  func outside() {
    let rules = ProxyRules(tunnels: [
      SocketAddress(host: "Example.com", port: 443), SocketAddress(host: "::1", port: 8443),
      SocketAddress(host: "api.push.apple.com", port: 443),
      SocketAddress(host: "api.push.apple.com", port: 8443),
    ])
    func decision(_ host: String, _ port: UInt16) -> ProxyRules.Decision {
      rules.decision(on: SocketAddress(host: host, port: port))
    }
    #expect(decision("example.COM", 443) == .outside)
    #expect(decision("::1", 8443) == .outside)
    // Apple's stay ours, but for ports that they do not have.
    #expect(decision("api.push.apple.com", 443) == .service(.provider))
    #expect(decision("api.push.apple.com", 8443) == .outside)
    for (host, port) in [
      ("example.com", 444), ("www.example.com", 443), ("example.com.evil.org", 443), ("::1", 443),
    ] {
      guard case .refused = decision(host, UInt16(port)) else {
        Issue.record("\(host):\(port) leads somewhere")
        continue
      }
    }
  }
}
