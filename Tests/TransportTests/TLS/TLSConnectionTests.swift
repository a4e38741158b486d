import Basics
import CLibrary
import Platform
import Testing

import Transport

extension LiveTests {
  @Suite("TLS connection")
  struct TLSConnectionTests {
    @Test("bytes arrive whole and in order in both directions, small and large", arguments: [0, 128 << 10])
    func echo(readAhead: Int) throws {
      var policy = TLSPolicy()
      policy.readAhead = readAhead
      let stage = try Stage(policy) { server in server.onReceived = { $0.send($1) } }
      let (client, server) = try stage.pair()
      var sent: [UInt8] = []
      for count in [1, 16_384, 16_385, 1_000_000, 3] {
        let part = pattern(count)
        client.send(part)
        sent += part
        stage.turn(until: "\(count) come back") { client.received.count == sent.count }
      }
      #expect(client.received == sent && server.received == sent)
      #expect(client.connection?.bytesWritten == sent.count && server.connection?.bytesRead == sent.count)
    }

    @Test("what is queued leaves at the end of the turn, after its hooks")
    func afterHooks() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      let connection = try #require(server.connection)
      var queued: [Int] = []
      stage.loop.atTurnEnd { queued.append(connection.queuedBytes) }
      client.onReceived = { _, _ in }
      server.send([1, 2, 3])
      stage.loop.runTurn(wait: false)
      #expect(queued == [3] && connection.queuedBytes == 0)
      stage.turn(until: "they arrive") { client.received == [1, 2, 3] }
    }

    @Test("room that was lent and used leaves like anything else")
    func room() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      let connection = try #require(server.connection)
      for byte in UInt8(1)...3 {
        connection.append(atMost: 100) { $0.append(byte) }
      }
      stage.turn(until: "they arrive") { client.received == [1, 2, 3] }
    }

    // MARK: Ends

    @Test("a close after bytes: they come, then an orderly end, told once on each side")
    func close() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      let bytes = pattern(300_000)
      server.send(bytes)
      server.connection?.close()
      server.send([1])
      stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      #expect(client.received == bytes && client.sawClose)
      #expect(client.endReason == "closed" && server.endReason == "closed")
      #expect([client, server].allSatisfy { $0.calls.count { $0 == "closed" } == 1 })
      #expect(stage.open == 0)
    }

    @Test("whoever closes first, and both at once, it is an orderly end")
    func eitherSide() throws {
      for closers in [[0], [1], [0, 1]] {
        let stage = try Stage()
        let (client, server) = try stage.pair()
        for index in closers { [client, server][index].connection?.close() }
        stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
        #expect(client.endReason == "closed" && server.endReason == "closed")
      }
    }

    @Test("the close is told whatever room the kernel has left for it", arguments: 1...12)
    func closeWithoutRoom(thousands: Int) throws {
      let stage = try Stage()
      let (client, server) = try stage.pair {
        $0.onOpened = { connection in
          SocketCalls.setReceiveBuffer(connection.descriptor, bytes: 4096)
          connection.setPaused(true)
        }
      }
      server.connection?.setSendBuffer(4096)
      let bytes = pattern(thousands * 3000)
      server.send(bytes)
      server.connection?.close()
      stage.settle()
      client.connection?.setPaused(false)
      stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      #expect(client.received == bytes && client.sawClose, "\(client.endReason ?? "")")
    }

    @Test("what a peer sends after the close is thrown away, however much it is")
    func drained() throws {
      let stage = try Stage { server in
        server.onReceived = { connection, _ in
          connection.send([9])
          connection.close()
        }
      }
      let (client, server) = try stage.pair()
      client.send([1])
      client.send(pattern(5_000_000))
      stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      #expect(client.received == [9] && client.sawClose)
      #expect(server.received.count <= 1 << 16, "only what came with the first byte")
    }

    @Test("a connection whose socket the system does not watch is ended with a reason, not left to hang")
    func unwatched() throws {
      enum Moment: CaseIterable { case accepted, readingOn, writing }
      for moment in Moment.allCases {
        var loop: EventLoop?
        let stage = try Stage { server in
          if moment == .accepted, let accepted = server.connection?.descriptor { loop?.refused = [accepted] }
        }
        loop = stage.loop
        if moment == .accepted {
          _ = try stage.connect()
          stage.turn(until: "the server gives up") { stage.servers.last?.hasEnded == true }
        } else {
          let (_, server) = try stage.pair()
          let connection = try #require(server.connection)
          connection.setSendBuffer(4096)
          connection.setPaused(true)
          stage.loop.refused = [connection.descriptor]
          if moment == .readingOn { connection.setPaused(false) } else { server.send(pattern(8 << 20)) }
          stage.turn(until: "the server gives up") { server.hasEnded }
        }
        #expect(stage.servers.last?.endReason == "the system can't watch the socket")
        #expect(stage.open == 0)
      }
    }

    @Test("an end of stream without a TLS close, and a reset, are told as such")
    func rudeEnds() throws {
      for reset in [false, true] {
        let stage = try Stage()
        let (client, server) = try stage.pair()
        client.connection?.abort("rude", reset: reset)
        #expect(client.calls.last == "closed" && client.endReason == "rude")
        stage.turn(until: "the server notices") { server.hasEnded }
        #expect(!server.sawClose && server.endReason != "closed")
        #expect(stage.open == 0)
      }
    }

    @Test("nothing is heard of a connection after it was aborted in any of its calls")
    func abortInCalls() throws {
      enum Call: CaseIterable { case opened, received, drained }
      for call in Call.allCases {
        for reset in [false, true] {
          let stage = try Stage { server in
            let abort = { (connection: SocketConnection) in connection.abort("enough", reset: reset) }
            switch call {
            case .opened: server.onOpened = abort
            case .received: server.onReceived = { connection, _ in abort(connection) }
            case .drained:
              server.onOpened = { $0.notifyWhenDrained() }
              server.onDrained = abort
            }
          }
          let client = try stage.connect { $0.onOpened = { $0.send([UInt8](repeating: 1, count: 200_000)) } }
          stage.turn(until: "both are done") { client.hasEnded && stage.servers.last?.hasEnded == true }
          let server = try #require(stage.servers.last)
          #expect(server.endReason == "enough" && server.calls.last == "closed")
          #expect(server.calls.count { $0 == "closed" } == 1)
          stage.settle()
          #expect(server.calls.last == "closed" && stage.open == 0)
        }
      }
    }

    @Test("a connection may be closed in any of its calls, and what was queued before still leaves")
    func closeInCalls() throws {
      let stage = try Stage { server in
        server.onOpened = {
          $0.send([7])
          $0.close()
        }
      }
      let client = try stage.connect()
      stage.turn(until: "it ends") { client.hasEnded }
      #expect(client.received == [7] && client.sawClose)
    }

    @Test("sending to a connection that has ended is harmless")
    func sendAfterEnd() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      client.connection?.abort("gone", reset: true)
      server.send(pattern(1_000_000))
      stage.turn(until: "the server notices") { server.hasEnded }
      server.send([1])
      client.send([1])
      server.connection?.close()
      server.connection?.setPaused(true)
      server.connection?.flushNow()
      stage.settle()
      #expect(server.connection?.queuedBytes == 0)
    }

    @Test("a close whose output nobody takes ends by force, in bounded time")
    func closeStuck() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair { $0.onOpened = { $0.setPaused(true) } }
      let connection = try #require(server.connection)
      server.send([UInt8](repeating: 0, count: 16 << 20))
      connection.close()
      stage.settle()
      #expect(!connection.isOpen && connection.queuedBytes > 0)
      let limit = SystemClock.now().adding(nanoseconds: SocketConnection.drainLimit)
      #expect(
        connection.deadline <= limit && connection.deadline > limit.adding(nanoseconds: -10_000_000_000))
      connection.deadline = .distantPast
      stage.turn(until: "the sweep ends it") { server.hasEnded }
      #expect(!client.hasEnded && stage.open == 0)
    }

    @Test("however connections end, their descriptors are given back")
    func descriptors() throws {
      func openDescriptors() -> Int { (0..<4096).count { fcntl($0, F_GETFD) >= 0 } }
      let stage = try Stage()
      _ = try stage.pair()
      let before = openDescriptors()
      for round in 0..<40 {
        if round % 4 == 3 {
          let silent = try SilentSocket(stage.address)
          stage.turn(until: "it is accepted") { stage.open == 2 }
          silent.send(Array("no TLS at all\r\n".utf8))
          stage.settle()
          silent.close()
          stage.turn(until: "it is gone") { stage.open == 1 }
          continue
        }
        let (client, server) = try stage.pair()
        switch round % 4 {
        case 0: client.connection?.close()
        case 1: server.connection?.abort("reset", reset: true)
        default: client.connection?.abort("gone")
        }
        stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      }
      // Other tests of this process may open and close files meanwhile.
      #expect(openDescriptors() < before + 20)
    }
  }
}
