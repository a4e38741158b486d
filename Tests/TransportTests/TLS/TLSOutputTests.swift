import Basics
import Platform
import Testing

import Transport

extension LiveTests {
  /// What leaves when not all may: a commit holds it, a fault has it dribble, the system has no room.
  @Suite("Connection, output")
  struct TLSOutputTests {
    private static let size = 1 << 20

    /// A server whose output has no room, behind a client that does not read.
    private func blocked(_ stage: Stage) throws -> (client: Peer, server: SocketConnection, bytes: [UInt8]) {
      let (client, server) = try stage.pair { $0.onOpened = { $0.setPaused(true) } }
      let connection = try #require(server.connection)
      connection.setSendBuffer(4096)
      let bytes = pattern(Self.size)
      connection.send(bytes)
      stage.settle()
      #expect(connection.isBlocked && connection.queuedBytes > 0)
      return (client, connection, bytes)
    }

    @Test(
      "what stops waiting for commits leaves at once, covered or not, and so does all that comes later",
      arguments: [false, true])
    func stopsWaiting(isCovered: Bool) throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      let connection = try #require(server.connection)
      stage.loop.holdOutput()
      connection.send([1])
      if isCovered { stage.loop.holdOutput() }
      stage.settle()
      #expect(client.received.isEmpty)
      connection.waitsForCommits = false
      stage.turn(until: "it is there") { client.received == [1] }
      connection.send([2])
      stage.loop.releaseOutput()
      stage.loop.flushReleased()
      connection.send([3])
      stage.turn(until: "all is there") { client.received == [1, 2, 3] }
      // And waits again when it is to.
      connection.waitsForCommits = true
      stage.loop.holdOutput()
      connection.send([4])
      stage.settle()
      #expect(client.received == [1, 2, 3])
      stage.loop.freeOutput()
      stage.turn(until: "it is free") { client.received == [1, 2, 3, 4] }
    }

    @Test("TLS gets what it had no room for again, whatever has the output leave in small pieces meanwhile")
    func dribbleAmidRetry() throws {
      for isStalled in [false, true] {
        let stage = try Stage()
        let (client, server, bytes) = try blocked(stage)
        if isStalled {
          server.setStalled(true)
          stage.settle()
          server.setStalled(false)
        }
        server.dribble(bytes: 5000, everyNanoseconds: 1000)
        client.connection?.setPaused(false)
        stage.turn(until: "all is here") { client.received.count == bytes.count || client.hasEnded }
        // Not compared in the expectation, which would say at length what is different.
        let isWhole = client.received == bytes
        #expect(isWhole, "\(client.endReason ?? "")")
      }
    }

    @Test("TLS gets what it had no room for again also if that was not queued yet")
    func dribbleBehindSendAtOnce() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      server.connection?.setPaused(true)
      let connection = try #require(client.connection)
      connection.setSendBuffer(4096)
      let bytes = pattern(Self.size)
      connection.sendAtOnce(bytes.span)
      #expect(connection.queuedBytes > 0)
      connection.dribble(bytes: 5000, everyNanoseconds: 1000)
      server.connection?.setPaused(false)
      stage.turn(until: "all is here") { server.received.count == bytes.count || server.hasEnded }
      let isWhole = server.received == bytes
      #expect(isWhole, "\(server.endReason ?? "")")
    }

    @Test("what leaves while a commit holds the rest puts off the end of a slow peer as ever")
    func stallLimitBehindGate() throws {
      let stage = try Stage()
      let (client, server, bytes) = try blocked(stage)
      stage.loop.holdOutput()
      server.send([1])
      server.stallLimit = 60_000_000_000
      server.deadline = SystemClock.now()
      client.connection?.setPaused(false)
      stage.turn(until: "what may leave is here") { client.received.count == bytes.count }
      stage.settle()
      #expect(client.received.count == bytes.count && server.queuedBytes == 1 && server.isHeldBack)
      #expect(server.deadline > SystemClock.now())
      stage.loop.freeOutput()
      stage.turn(until: "the rest is here") { client.received.count == bytes.count + 1 }
      let isWhole = client.received == bytes + [1]
      #expect(isWhole && !server.isHeldBack)
    }

    @Test("what may leave while a commit holds the rest dribbles, and nothing of the rest with it")
    func dribbleBehindGate() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      let connection = try #require(server.connection)
      let (early, late) = (pattern(95), pattern(205))
      server.send(early)
      connection.dribble(bytes: 10, everyNanoseconds: 1000)
      stage.loop.runTurn(wait: false)
      stage.loop.holdOutput()
      server.send(late)
      stage.turn(until: "what may leave is here") { client.received.count >= early.count }
      stage.settle()
      #expect(client.received == early)
      stage.loop.freeOutput()
      stage.turn(until: "the rest is here") { client.received == early + late }
    }

    @Test("nobody is told that everything has left, and no end is made, while a commit holds either")
    func endBehindGate() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      let connection = try #require(server.connection)
      stage.loop.holdOutput()
      connection.notifyWhenDrained()
      stage.settle()
      #expect(!server.calls.contains("drained"))
      connection.close()
      stage.settle()
      #expect(!client.sawClose && !client.hasEnded)
      stage.loop.freeOutput()
      stage.turn(until: "both are done") { client.hasEnded && server.hasEnded }
      #expect(client.sawClose)
    }
  }
}
