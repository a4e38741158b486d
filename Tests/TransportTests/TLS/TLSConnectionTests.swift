import Platform
import Testing

@testable import Transport

extension LiveTests {
  @Suite("TLS connection")
  struct TLSConnectionTests {
    private func pattern(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) } }

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
    func reserve() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      let connection = try #require(server.connection)
      for byte in UInt8(1)...3 {
        connection.reserve(100).storeBytes(of: byte, as: UInt8.self)
        connection.commit(1)
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
            let abort = { (connection: TLSConnection) in connection.abort("enough", reset: reset) }
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
      #expect(connection.phase == .draining && connection.queuedBytes > 0)
      let limit = SystemClock.monotonicNanoseconds() + TLSConnection.drainLimit
      #expect(connection.deadline <= limit && connection.deadline > limit - 10_000_000_000)
      connection.deadline = 0
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

    // MARK: Back-pressure

    @Test(
      "a paused connection reads nothing, not even what TLS has decrypted, and loses nothing",
      arguments: [0, 128 << 10])
    func pause(readAhead: Int) throws {
      var policy = TLSPolicy()
      policy.readAhead = readAhead
      let stage = try Stage(policy) { server in
        server.onReceived = { connection, _ in connection.setPaused(true) }
      }
      let (client, server) = try stage.pair()
      let bytes = pattern(2_000_000)
      client.send(bytes)
      var pauses = 0
      while server.received.count < bytes.count, pauses < 10_000 {
        let before = server.received.count
        stage.turn(until: "a part has come") { server.received.count > before }
        let now = server.received.count
        stage.settle()
        #expect(server.received.count == now && server.connection?.isPaused == true)
        server.connection?.setPaused(false)
        pauses += 1
      }
      #expect(server.received == bytes && pauses > 10)
    }

    @Test("a peer that is not read from is held back by TCP, and goes on when it is")
    func heldBack() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      server.connection?.setPaused(true)
      let count = 24 << 20
      client.send([UInt8](repeating: 1, count: count))
      stage.settle()
      #expect(server.received.isEmpty && (client.connection?.queuedBytes ?? 0) > 4 << 20)
      server.connection?.setPaused(false)
      stage.turn(until: "all is here") { server.received.count == count }
    }

    @Test("a paused connection that is closed still ends in order")
    func closePaused() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      server.connection?.setPaused(true)
      client.send(pattern(1000))
      stage.settle()
      server.send([5])
      server.connection?.close()
      stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      #expect(client.received == [5] && client.sawClose && server.received.isEmpty)
    }

    @Test("whoever asks is told once that everything has left, and not before")
    func drainedCall() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair { $0.onOpened = { $0.setPaused(true) } }
      let connection = try #require(server.connection)
      connection.setSendBuffer(4096)
      var queuedThen: [Int] = []
      server.onDrained = { queuedThen.append($0.queuedBytes) }
      server.send([UInt8](repeating: 1, count: 1 << 20))
      connection.notifyWhenDrained()
      stage.settle()
      #expect(queuedThen.isEmpty && connection.queuedBytes > 0)
      client.connection?.setPaused(false)
      stage.turn(until: "it is told") { !queuedThen.isEmpty }
      stage.settle()
      #expect(queuedThen == [0])
      connection.notifyWhenDrained()
      stage.turn(until: "it is told again, with nothing queued") { queuedThen == [0, 0] }
    }

    @Test("a connection that sends without end lets others be read in between")
    func fairness() throws {
      let stage = try Stage()
      let (flood, first) = try stage.pair()
      let (quiet, second) = try stage.pair()
      let total = 24 << 20
      first.connection?.setPaused(true)
      flood.send([UInt8](repeating: 1, count: total))
      stage.settle()
      first.connection?.setPaused(false)
      quiet.send([1])
      var readWhenServed = 0
      second.onReceived = { _, _ in readWhenServed = first.received.count }
      stage.turn(until: "all is here") { first.received.count == total && second.received == [1] }
      #expect(readWhenServed <= EventLoop.readBudget + (1 << 16), "\(readWhenServed)")
    }

    // MARK: Handshakes

    @Test("a handshake that takes too long is ended")
    func handshakeLimit() throws {
      let stage = try Stage()
      let silent = try SilentSocket(stage.address)
      stage.turn(until: "it is accepted") { stage.open == 1 }
      let connection = try #require(stage.servers.last?.connection)
      let limit = SystemClock.monotonicNanoseconds() + TLSConnection.handshakeLimit
      #expect(connection.deadline <= limit && connection.deadline > limit - 10_000_000_000)
      connection.deadline = 0
      stage.turn(until: "it is ended") { stage.open == 0 }
      #expect(stage.servers.last?.calls == ["closed"])
      withExtendedLifetime(silent) {}
    }

    @Test("an open connection has no deadline")
    func noDeadline() throws {
      let stage = try Stage()
      let (_, server) = try stage.pair()
      #expect(server.connection?.deadline == .max)
    }

    @Test("a connection that nobody accepts is told as failed, once")
    func refused() throws {
      let stage = try Stage()
      let address = try stage.address
      let client = Peer()
      let context = try TLSContext.client(ca: nil, policy: TLSPolicy())
      let other = try #require(EventLoop())
      let free = try TLSListener(
        loop: other, address: SocketAddress(host: "127.0.0.1", port: 0),
        context: TLSContext.server(
          certificate: Keys.folder().serverCertificate, key: Keys.folder().serverKey, policy: TLSPolicy())
      ) { _ in Peer() }
      free.stopAccepting()
      #expect(free.address.port != address.port)
      let connection = try? TLSClient.connect(
        loop: stage.loop, to: free.address, serverName: nil, context: context, handler: client)
      stage.turn(until: "it fails") { connection == nil || client.hasEnded }
      #expect(!client.hasOpened)
      if connection != nil { #expect(client.endReason?.contains("can't connect") == true) }
    }

    @Test("a client that does not trust the server says so, and the server hears it")
    func untrusted() throws {
      let stage = try Stage()
      let client = try stage.connect(serverName: "example.com")
      stage.turn(until: "both know") { client.hasEnded && stage.servers.last?.hasEnded == true }
      #expect(!client.hasOpened && client.endReason?.contains("certificate verify failed") == true)
    }

    @Test("each side knows name, protocol, version and cipher")
    func facts() throws {
      var policy = TLSPolicy()
      policy.selectALPN = { $0.contains("h2") ? "h2" : nil }
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

/// A TCP connection without TLS.
private final class SilentSocket {
  private let descriptor: Int32
  private var isOpen = true

  init(_ address: SocketAddress) throws {
    descriptor = try address.withSystemAddress { family, pointer, size in
      let descriptor = SocketCalls.makeStreamSocket(family)
      _ = Platform.connect(descriptor, pointer, size)
      return descriptor
    }
  }

  deinit { close() }

  func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { SocketCalls.send(descriptor, $0) } }

  func close() {
    guard isOpen else { return }
    isOpen = false
    _ = Platform.close(descriptor)
  }
}
