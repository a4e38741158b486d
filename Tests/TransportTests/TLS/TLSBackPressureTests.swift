import Platform
import Testing

import Transport

extension LiveTests {
  @Suite("TLS connection, back-pressure")
  struct TLSBackPressureTests {
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
      #expect(queuedThen == [0] && !connection.isBlocked && stage.loop.readySockets == 0)
      connection.notifyWhenDrained()
      stage.turn(until: "it is told again, with nothing queued") { queuedThen == [0, 0] }
    }

    @Test(
      "a connection that keeps the server busy reads one slice a turn, and others are served between them")
    func slices() throws {
      let stage = try Stage()
      let (busy, busyServer) = try stage.pair()
      let (healthy, healthyServer) = try stage.pair()
      // No time at all: a slice ends when the clock is asked for the second time.
      stage.loop.setReadTimes(turn: 0, quietTurn: 0, least: 0)
      var reads: [Int] = []
      busyServer.onReceived = { _, _ in reads[reads.count - 1] += 1 }
      healthyServer.onReceived = { connection, bytes in connection.send(Array(bytes)) }
      // Small records, so that the system takes many of them at once.
      let record = [UInt8](repeating: 7, count: 100)
      for _ in 0..<400 {
        busy.send(record)
        busy.connection?.flushNow()
      }
      healthy.send([1])
      healthy.connection?.flushNow()
      var turns = 0
      while healthy.received.isEmpty, turns < 40 {
        reads.append(0)
        stage.loop.runTurn(wait: false)
        turns += 1
      }
      #expect(healthy.received == [1] && turns < 40)
      #expect(reads.allSatisfy { $0 <= 2 * EventLoop.readsPerLook } && reads.contains { $0 > 0 })
      #expect(busyServer.received.count < 400 * record.count)
      stage.turn(until: "the busy one is through") {
        reads.append(0)
        return busyServer.received.count == 400 * record.count
      }
      #expect(stage.loop.waitingReaders <= 1)
    }

    @Test(
      "who sends 50 times a second, each behind an answer, is not held up by one that keeps the server busy")
    func pace() throws {
      let stage = try Stage()
      let (busy, _) = try stage.pair()
      let (healthy, healthyServer) = try stage.pair()
      let turn = EventLoop.usualReadTime
      stage.loop.setReadTimes(turn: 0, quietTurn: 0, least: 0)
      for _ in 0..<400 {
        busy.send([UInt8](repeating: 7, count: 100))
        busy.connection?.flushNow()
      }
      stage.loop.runTurn(wait: false)
      healthyServer.onReceived = { connection, bytes in connection.send(Array(bytes)) }
      var longest = 0
      for count in 1...3 {
        healthy.send([1])
        healthy.connection?.flushNow()
        var turns = 0
        while healthy.received.count < count, turns < 40 {
          stage.loop.runTurn(wait: false)
          turns += 1
        }
        longest = max(longest, turns)
      }
      #expect(stage.loop.waitingReaders > 0 && !stage.loop.hasOnlyBusyReaders)
      #expect(Int64(longest) * turn < 1_000_000_000 / 50, "\(longest) turns")
    }

    @Test(
      "a turn is longer once nobody but a busy reader has come for some turns, and short again when somebody does"
    )
    func quietTurns() throws {
      let stage = try Stage()
      let (busy, busyServer) = try stage.pair()
      let (healthy, healthyServer) = try stage.pair()
      stage.loop.setReadTimes(turn: 0, quietTurn: 0, least: 0)
      for _ in 0..<400 {
        busy.send([UInt8](repeating: 7, count: 100))
        busy.connection?.flushNow()
      }
      // The first turn learns of the busy one; from then on its readiness is no news.
      stage.loop.runTurn(wait: false)
      #expect(!stage.loop.hasOnlyBusyReaders)
      for _ in 1..<EventLoop.turnsUntilQuiet {
        stage.loop.runTurn(wait: false)
        #expect(!stage.loop.hasOnlyBusyReaders)
      }
      stage.loop.runTurn(wait: false)
      #expect(stage.loop.hasOnlyBusyReaders && busyServer.received.count < 400 * 100)
      // Much longer than anything that these turns have read for.
      let (short, long): (Int64, Int64) = (20_000_000_000, 80_000_000_000)
      stage.loop.setReadTimes(turn: short, quietTurn: long, least: 0)
      #expect(stage.loop.readTimeOfEach > short)

      stage.loop.setReadTimes(turn: 0, quietTurn: 0, least: 0)
      healthy.send([1])
      healthy.connection?.flushNow()
      stage.turn(until: "the healthy one is read") { healthyServer.received == [1] }
      #expect(!stage.loop.hasOnlyBusyReaders)
      stage.loop.setReadTimes(turn: short, quietTurn: long, least: 0)
      #expect(stage.loop.readTimeOfEach <= short)
    }

    @Test("what a handler leaves is handed over in the next turn, in front of what comes later")
    func leaves() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      // One byte a turn, of whatever was handed over.
      var (taken, turns): ([UInt8], Set<Int>) = ([], [])
      server.onReceived = { connection, bytes in
        taken.append(bytes[0])
        turns.insert(stage.loop.turns)
        connection.leave(bytes.dropping(1))
      }
      client.send([1, 2, 3])
      client.connection?.flushNow()
      stage.turn(until: "the first is here") { taken == [1] }
      #expect(server.connection?.leftByteCount == 2)
      client.send([4, 5])
      client.connection?.flushNow()
      stage.turn(until: "all are here") { taken.count == 5 }
      // What came later may be read in the turn that the last of the first was handed over in.
      #expect(taken == [1, 2, 3, 4, 5] && turns.count >= 4 && server.connection?.leftByteCount == 0)
    }

    @Test("what a handler has left waits while the connection is paused, and goes with it")
    func leavesPaused() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      var taken: [[UInt8]] = []
      server.onReceived = { connection, bytes in
        taken.append(Array(bytes))
        guard taken.count == 1 else { return }
        connection.leave(bytes.dropping(1))
        connection.setPaused(true)
      }
      client.send([1, 2, 3])
      stage.turn(until: "the first is here") { !taken.isEmpty }
      stage.settle()
      #expect(taken == [[1, 2, 3]])
      server.connection?.setPaused(false)
      stage.turn(until: "the others are here") { taken == [[1, 2, 3], [2, 3]] }
      server.connection?.leave(.none)
      server.connection?.abort("over")
      stage.settle()
      #expect(taken.count == 2 && server.connection?.leftByteCount == 0)
    }

    @Test("what is left by a handler whose connection was stalled amid it comes when that goes on")
    func leavesStalled() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      var taken: [[UInt8]] = []
      server.onReceived = { connection, bytes in
        taken.append(Array(bytes))
        guard taken.count == 1 else { return }
        connection.setStalled(true)
        connection.leave(bytes.dropping(1))
      }
      client.send([1, 2, 3])
      stage.turn(until: "the first is here") { !taken.isEmpty }
      stage.settle()
      client.send([4])
      stage.settle()
      #expect(taken == [[1, 2, 3]] && stage.loop.readySockets == 0)
      server.connection?.setStalled(false)
      stage.turn(until: "the others are here") { Array(taken.joined()) == [1, 2, 3, 2, 3, 4] }
    }

    @Test("time counts from the first read on, and its handler may ask amid it whether it is over")
    func asksAmidRead() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      stage.loop.setReadTimes(turn: 0, quietTurn: 0, least: 0)
      var answers: [Bool] = []
      server.onReceived = { connection, _ in
        answers += (0..<3).map { _ in connection.hasReadEnough }
      }
      client.send([1])
      stage.turn(until: "it is read") { !answers.isEmpty }
      // Whoever asks first has the time begin.
      #expect(answers == [false, true, true])
    }

    @Test("hooks of a turn's beginning run again amid its reading, at most a few reads apart")
    func looksAmidReading() throws {
      let stage = try Stage()
      let (client, server) = try stage.pair()
      let long: Int64 = 80_000_000_000
      stage.loop.setReadTimes(turn: long, quietTurn: long, least: long, look: 0)
      var looks = 0
      stage.loop.atTurnBegin { looks += 1 }
      var reads: [(turn: Int, looks: Int)] = []
      server.onReceived = { _, _ in reads.append((stage.loop.turns, looks)) }
      let (record, count) = ([UInt8](repeating: 7, count: 100), 400)
      for _ in 0..<count {
        client.send(record)
        client.connection?.flushNow()
      }
      stage.turn(until: "all is here") { server.received.count == count * record.count }
      let readsOfTurn = Dictionary(grouping: reads, by: \.turn).values.map(\.count)
      #expect(readsOfTurn.contains { $0 > 2 * EventLoop.readsPerLook })
      let readsOfLook = Dictionary(grouping: reads, by: \.looks).values.map(\.count)
      #expect(readsOfLook.allSatisfy { $0 <= EventLoop.readsPerLook })
      // Before its time is over there is no other look.
      stage.loop.setReadTimes(turn: long, quietTurn: long, least: long, look: long)
      let (before, turn) = (looks, stage.loop.turns)
      client.send(record)
      stage.turn(until: "one more is here") { reads.count > count }
      #expect(looks - before <= stage.loop.turns - turn)
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
      #expect(readWhenServed <= EventLoop.readLimit + (1 << 16), "\(readWhenServed)")
    }
  }
}
