import Basics
import CLibrary
import Platform
import Testing

import Transport

extension LiveTests {
  @Suite("TLS connection, handshake")
  struct TLSHandshakeTests {
    @Test("a handshake that takes too long is ended")
    func handshakeLimit() throws {
      let stage = try Stage()
      let silent = try SilentSocket(stage.address)
      stage.turn(until: "it is accepted") { stage.open == 1 }
      let connection = try #require(stage.servers.last?.connection)
      let limit = SystemClock.now().adding(nanoseconds: SocketConnection.handshakeLimit)
      #expect(
        connection.deadline <= limit && connection.deadline > limit.adding(nanoseconds: -10_000_000_000))
      connection.deadline = .distantPast
      stage.turn(until: "it is ended") { stage.open == 0 }
      #expect(stage.servers.last?.calls == ["closed"])
      // And so is the next, which the next look finds.
      let next = try SilentSocket(stage.address)
      stage.turn(until: "it is accepted") { stage.open == 1 }
      stage.servers.last?.connection?.deadline = .distantPast
      stage.turn(until: "it is ended") { stage.open == 0 }
      withExtendedLifetime((silent, next)) {}
    }

    @Test("of many clients that come at once 16 are taken in each turn, and all in the end")
    func crowd() throws {
      let stage = try Stage()
      let crowd = try (0..<3 * 16).map { _ in
        try SilentSocket(stage.address)
      }
      var counts = [0]
      stage.turn(until: "all are taken") {
        counts.append(stage.open)
        return stage.open == crowd.count
      }
      let steps = zip(counts.dropFirst(), counts).map { $0 - $1 }
      #expect(steps.max() == 16)
      withExtendedLifetime(crowd) {}
    }

    @Test("an open connection has no deadline")
    func noDeadline() throws {
      let stage = try Stage()
      let (_, server) = try stage.pair()
      #expect(server.connection?.deadline == .distantFuture)
    }

    @Test("a connection that nobody accepts is told as failed, once")
    func refused() throws {
      let stage = try Stage()
      let address = try stage.address
      let client = Peer()
      let context = try TLSContext.client(ca: nil, policy: TLSPolicy())
      let other = try #require(EventLoop())
      let free = try SocketListener(
        loop: other, address: SocketAddress(host: "127.0.0.1", port: 0),
        context: TLSContext.server(
          certificate: Keys.folder().server.certificate, key: Keys.folder().server.key, policy: TLSPolicy())
      ) { _ in Peer() }
      free.stopAccepting()
      #expect(free.address.port != address.port)
      let connection = try? TLSClient.connect(
        loop: stage.loop, to: free.address, serverName: nil, context: context, handler: client)
      stage.turn(until: "it fails") { connection == nil || client.hasEnded }
      #expect(!client.hasOpened)
      // The system may also refuse at once, which is thrown.
      guard connection != nil else { return }
      #expect(client.calls == ["closed"] && client.endReason?.contains("can't connect") == true)
    }

    @Test("a client that does not trust the server says so, and the server hears it")
    func untrusted() throws {
      let stage = try Stage()
      let client = try stage.connect(serverName: "example.com")
      stage.turn(until: "both know") { client.hasEnded && stage.servers.last?.hasEnded == true }
      #expect(!client.hasOpened && client.endReason?.contains("certificate verify failed") == true)
      let server = try #require(stage.servers.last)
      #expect(server.endReason?.contains("alert") == true, "\(server.endReason ?? "")")
    }

    @Test("a client that remembers its server believes it again, under no other name")
    func remembered() throws {
      var policy = TLSPolicy()
      policy.remembersServer = true
      let stage = try Stage(client: policy)
      for _ in 0..<2 {
        let client = try stage.connect()
        stage.turn(until: "TLS is up") { client.hasOpened || client.hasEnded }
        #expect(client.hasOpened && client.connection?.peerCertificateProblem == nil)
      }
      let misled = try stage.connect(serverName: "example.com")
      stage.turn(until: "it ends") { misled.hasEnded }
      #expect(!misled.hasOpened && misled.endReason?.contains("certificate verify failed") == true)
    }

    @Test("each side knows name, protocol, version and cipher")
    func facts() throws {
      var policy = TLSPolicy()
      policy.protocols = .http2()
      let stage = try Stage(policy)
      for (offer, chosen) in [(["x", "h2"], "h2"), (["x"], nil), ([], nil)] as [([String], String?)] {
        let client = try stage.connect(alpn: offer)
        stage.turn(until: "TLS is up") { client.hasOpened && stage.servers.last?.hasOpened == true }
        let server = try #require(stage.servers.last?.connection)
        #expect(
          server.serverName == "localhost" && server.alpn == chosen && client.connection?.alpn == chosen)
        #expect(server.tlsVersion == "TLSv1.3" && server.cipher.hasPrefix("TLS_"))
        #expect(server.peerCertificate == nil && client.connection?.peerCertificate != nil)
        #expect(server.remoteAddress.host == "127.0.0.1")
      }
    }

    @Test("no session ticket comes behind the handshake: some clients take it for data")
    func noTickets() throws {
      let stage = try Stage()
      let (client, _) = try stage.pair()
      stage.settle()
      let connection = try #require(client.connection)
      // TLS 1.3 sends tickets right behind the handshake: nothing may lie in the socket.
      var byte: UInt8 = 0
      #expect(connection.tlsVersion == "TLSv1.3")
      #expect(recv(connection.descriptor, &byte, 1, Int32(MSG_PEEK)) == -1)
      #expect(connection.bytesRead == 0)
    }
  }
}
