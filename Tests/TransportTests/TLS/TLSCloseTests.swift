import Basics
import Testing

import Transport

extension LiveTests {
  @Suite("TLS close")
  struct TLSCloseTests {
    private static let hour: Int64 = 3_600_000_000_000

    private func stage(closeDelay: Int64, _ prepare: @escaping (Peer) -> Void = { _ in }) throws -> Stage {
      var policy = TLSPolicy()
      policy.closeDelay = closeDelay
      policy.protocols = ALPNChoice { $0.first }
      return try Stage(policy, prepare: prepare)
    }

    @Test("the close keeps off the data before it, until the peer ends")
    func keepsOff() throws {
      let stage = try stage(closeDelay: Self.hour)
      let (client, server) = try stage.pair()
      server.send([1, 2, 3])
      server.connection?.close()
      server.connection?.close()
      stage.turn(until: "the data is here") { client.received == [1, 2, 3] }
      stage.settle()
      #expect(!client.hasEnded && !server.hasEnded && server.connection?.isOpen == false)
      client.send([4])
      client.connection?.close()
      stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      #expect(server.endReason == "closed" && client.endReason == "closed")
      #expect(server.received.isEmpty && stage.open == 0)
    }

    @Test("the close comes when its time is over")
    func comes() throws {
      let stage = try stage(closeDelay: 1_000_000)
      let (client, server) = try stage.pair()
      server.send([1, 2, 3])
      server.connection?.close()
      stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      #expect(client.received == [1, 2, 3] && client.sawClose && server.endReason == "closed")
      #expect(stage.open == 0)
    }

    @Test("a peer that goes without a word, or is dropped, ends the wait")
    func cutShort() throws {
      for isOurs in [false, true] {
        let stage = try stage(closeDelay: Self.hour)
        let (client, server) = try stage.pair()
        server.send([1])
        server.connection?.close()
        stage.turn(until: "the data is here") { client.received == [1] }
        if isOurs {
          server.connection?.abort("enough")
        } else {
          client.connection?.abort("gone", reset: true)
        }
        stage.turn(until: "the server is done") { server.hasEnded }
        #expect(stage.open == 0 && server.connection?.wasCutBeforeEnd == !isOurs)
      }
    }

    @Test("nobody waits where nothing was sent, where the peer has ended, or with HTTP/2")
    func noWait() throws {
      enum Case: CaseIterable { case nothingSent, peerEnded, http2 }
      for kind in Case.allCases {
        let stage = try stage(closeDelay: Self.hour) { server in
          server.onReceived = { connection, _ in
            connection.send([9])
            if kind == .http2 { connection.close() }
          }
        }
        let client = try stage.connect(alpn: kind == .http2 ? ["h2"] : [])
        stage.turn(until: "TLS is up") { client.hasOpened && stage.servers.last?.hasOpened == true }
        let server = try #require(stage.servers.last)
        if kind == .nothingSent {
          server.connection?.close()
        } else {
          client.send([1])
          client.connection?.flushNow()
          if kind == .peerEnded { client.connection?.endOutput() }
        }
        stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
        #expect(client.sawClose && client.received == (kind == .nothingSent ? [] : [9]))
      }
    }

    @Test("who has said everything gives way without taking it back: the system goes on sending")
    func givesWay() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      client.connection?.setPaused(true)
      // More than the client's system takes for it, and less than the server's.
      let bytes = pattern(400_000)
      server.send(bytes)
      server.connection?.close()
      stage.turn(until: "all is said") { server.connection?.queuedBytes == 0 }
      #expect(server.connection?.isOpen == false)
      server.connection?.evict()
      #expect(server.endReason == SocketConnection.evictedReason && stage.open == 0)
      client.connection?.setPaused(false)
      stage.turn(until: "the client is done") { client.hasEnded }
      #expect(client.received == bytes && client.sawClose, "\(client.endReason ?? "")")
    }

    @Test("who has what it came for says so as it goes, also behind what it has sent")
    func ends() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      client.send([1])
      stage.turn(until: "it is heard") { server.received == [1] }
      client.connection?.end()
      stage.turn(until: "the server knows") { server.hasEnded }
      #expect(server.sawClose)
    }

    @Test("a peer that has ended its side still hears what its owner has to say", arguments: [false, true])
    func halfClosed(ofTCP: Bool) throws {
      let stage = try stage(closeDelay: 1_000_000) { $0.onPeerEnded = { _ in } }
      let (client, server) = try stage.pair()
      client.send([1])
      client.connection?.flushNow()
      client.connection?.endOutput(ofTCP: ofTCP)
      stage.turn(until: "the server knows") { server.calls.last == "peer ended" }
      let connection = try #require(server.connection)
      connection.setPaused(true)
      connection.setPaused(false)
      stage.settle()
      #expect(server.received == [1] && connection.isOpen && !client.hasEnded)
      #expect(server.calls.count { $0 == "peer ended" } == 1)
      #expect(stage.loop.readySockets == 0, "the end of the stream does not wake the loop for ever")
      #expect(connection.deadline < .distantFuture, "a peer that reads nothing can't hold it for ever")
      server.send([9])
      stage.turn(until: "it is heard") { client.received == [9] }
      connection.close()
      stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      #expect(client.sawClose && server.endReason == "closed")
    }
  }
}
