import Platform
import Testing

import Cluster

@Suite struct NATSAddressTests {
  @Test(arguments: [
    ("nats://localhost", "nats://localhost:4222"),
    ("NATS://10.0.0.1:4333/", "nats://10.0.0.1:4333"),
    ("tls://nats.example.com:4222", "tls://nats.example.com:4222"),
    ("nats://[::1]", "nats://[::1]:4222"),
    ("nats://[::1]:5", "nats://[::1]:5"),
  ])
  func reads(text: String, description: String) throws {
    let address = try #require(NATSAddress(text))
    #expect(address.description == description)
    #expect(address.login == nil)
    #expect(address.isSecure == description.hasPrefix("tls"))
  }

  @Test func readsALoginAndKeepsItToItself() throws {
    let user = try #require(NATSAddress("nats://apns:p%40ss:w%2Ford@engine:4222"))
    #expect(user.login == .password(user: "apns", "p@ss:w/ord"))
    #expect("\(user)" == "nats://engine:4222")
    let token = try #require(NATSAddress("tls://s3cr3t@engine"))
    #expect(token.login == .token("s3cr3t"))
    for text in [
      "\([user, token])", String(reflecting: token), "\(ClusterOptions(natsServers: [user, token]))",
    ] {
      #expect(!text.contains("w/ord") && !text.contains("w%2Ford") && !text.contains("s3cr3t"))
    }
  }

  @Test(arguments: [
    "", "localhost", "localhost:4222", "http://localhost", "ws://localhost", "nats://", "nats://:4222",
    "nats://host:0", "nats://host:65536", "nats://host:x", "nats://a b", "nats://host/path", "nats://host?x",
    "nats://@host", "nats://:p@host", "nats://u%4@host", "nats://::1", "nats://[x]:4222",
  ])
  func refuses(text: String) {
    #expect(NATSAddress(text) == nil)
  }

  @Test func readsSeveral() {
    #expect(NATSAddress.list("nats://a,tls://b:1")?.map(\.description) == ["nats://a:4222", "tls://b:1"])
    #expect(NATSAddress.list("nats://a,") == nil)
    #expect(NATSAddress.list("") == nil)
  }

  @Test func aRoundTriesEachAddressOfEachServer() {
    let (a, b) = (
      NATSAddress(SocketAddress(host: "a", port: 1)), NATSAddress(SocketAddress(host: "b", port: 1))
    )
    let (first, second) = (SocketAddress(host: "10.0.0.1", port: 1), SocketAddress(host: "10.0.0.2", port: 1))
    var round = NATSServerRound([a, b])
    #expect(round.next() == .lookUp(a))
    round.found([first, second])
    #expect(round.next() == .dial(a, first))
    #expect(round.next() == .dial(a, second))
    #expect(round.next() == .lookUp(b))
    // It stands for nothing.
    #expect(round.next() == .over)
    #expect(round.next() == .over)
    round.begin()
    #expect(round.next() == .lookUp(a))
    round.found([first, second])
    #expect(round.next() == .dial(a, first))
    // That was there, and is lost: the others first, then all of its addresses.
    round.begin()
    #expect(round.next() == .lookUp(b))
    round.found([second])
    #expect(round.next() == .dial(b, second))
    #expect(round.next() == .lookUp(a))
    round.found([first])
    #expect(round.next() == .dial(a, first))
    #expect(round.next() == .over)
  }

  @Test func theHostNamesTheNode() {
    #expect(ClusterOptions.isNode(ClusterOptions.defaultNode))
    #expect(ClusterOptions.isNode("apns-0.eu_1"))
    for name in ["", "a b", "é", "a/b", String(repeating: "x", count: 64)] {
      #expect(!ClusterOptions.isNode(name))
    }
  }
}
