import Basics
import CLibrary
import Platform
import Testing

import Transport

@Suite("Event loop")
struct EventLoopTests {
  private func turn(_ loop: EventLoop, until condition: () -> Bool) {
    let end = SystemClock.now().adding(nanoseconds: 5_000_000_000)
    while !condition(), SystemClock.now() < end { loop.runTurn() }
  }

  @Test("a timer fires once for each start, and not after it was cancelled")
  func timers() throws {
    let loop = try #require(EventLoop())
    var fired: [String] = []
    let once = LoopEvent(timerOn: loop) { fired.append("once") }
    let never = LoopEvent(timerOn: loop) { fired.append("never") }
    let last = LoopEvent(timerOn: loop) { fired.append("last") }
    once.start(afterNanoseconds: 1_000_000)
    never.start(afterNanoseconds: 1_000_000)
    last.start(afterNanoseconds: 5_000_000)
    never.cancel()
    turn(loop) { fired.last == "last" }
    #expect(fired == ["once", "last"])
    once.start(afterNanoseconds: -5)
    turn(loop) { fired.count == 3 }
    #expect(fired == ["once", "last", "once"])
  }

  @Test("a wait ends when it is so, though nothing happens, when that throws, and when its time is over")
  func waits() throws {
    struct Stop: Error {}
    let loop = try #require(EventLoop())
    var looks = 0
    func isThird() -> Bool {
      looks += 1
      return looks == 3
    }
    #expect(loop.turn(until: isThird, within: 5_000_000_000) && looks == 3)
    #expect(!loop.turn(until: { false }, within: 1_000_000))
    #expect(throws: Stop.self) { try loop.turn(until: { throw Stop() }, within: 5_000_000_000) }
  }

  @Test("a timer is never early, however long the turn that starts it takes")
  func neverEarly() throws {
    let loop = try #require(EventLoop())
    let (turn, delay): (Int64, Int64) = (30_000_000, 10_000_000)
    var (startedAt, firedAt) = (Instant.distantPast, Instant.distantPast)
    let late = LoopEvent(timerOn: loop) {
      firedAt = SystemClock.now()
      loop.stop()
    }
    let busy = LoopEvent(timerOn: loop) {
      let end = SystemClock.now().adding(nanoseconds: turn)
      while SystemClock.now() < end {}
      startedAt = SystemClock.now()
      late.start(afterNanoseconds: delay)
    }
    busy.start(afterNanoseconds: 0)
    loop.run()
    #expect(firedAt.nanoseconds(since: startedAt) >= delay)
  }

  @Test("starting a timer again moves it")
  func restart() throws {
    let loop = try #require(EventLoop())
    var fired: [String] = []
    let moved = LoopEvent(timerOn: loop) { fired.append("moved") }
    let other = LoopEvent(timerOn: loop) { fired.append("other") }
    moved.start(afterNanoseconds: 1_000_000)
    moved.start(afterNanoseconds: 20_000_000)
    other.start(afterNanoseconds: 10_000_000)
    turn(loop) { fired.count == 2 }
    #expect(fired == ["other", "moved"])
  }

  @Test("an event may end itself in its own call")
  func endsItself() throws {
    let loop = try #require(EventLoop())
    var event: LoopEvent?
    var fired = 0
    event = LoopEvent(timerOn: loop) {
      event = nil
      fired += 1
    }
    let memory = Weak(event)
    event?.start(afterNanoseconds: 0)
    turn(loop) { fired == 1 }
    #expect(fired == 1 && memory.object == nil)
  }

  @Test("an event keeps its loop, whatever is let go first")
  func keepsLoop() throws {
    var loop = EventLoop()
    let memory = Weak(loop)
    var event: LoopEvent? = LoopEvent(timerOn: try #require(loop)) {}
    event?.start(afterNanoseconds: 1_000_000_000)
    loop = nil
    #expect(memory.object != nil, "the event's registration lies in it")
    event = nil
    #expect(memory.object == nil)
  }

  @Test("hooks run at the end of each turn, in the order of adding, and a turn without events need not wait")
  func hooks() throws {
    let loop = try #require(EventLoop())
    var calls: [String] = []
    loop.atTurnEnd { calls.append("first") }
    loop.atTurnEnd { calls.append("second") }
    let timer = LoopEvent(timerOn: loop) { calls.append("event") }
    timer.start(afterNanoseconds: 0)
    turn(loop) { calls.contains("event") }
    #expect(calls.suffix(3) == ["event", "first", "second"])
    calls = []
    loop.runTurn(wait: false)
    #expect(calls == ["first", "second"])
  }

  @Test("hooks of the beginning run once a turn, before its events are handled, also if there are none")
  func beginning() throws {
    let loop = try #require(EventLoop())
    var calls: [String] = []
    loop.atTurnBegin { calls.append("begin") }
    loop.atTurnEnd { calls.append("end") }
    let timers = (0..<2).map { _ in LoopEvent(timerOn: loop) { calls.append("event") } }
    for timer in timers { timer.start(afterNanoseconds: 0) }
    loop.runTurn()
    #expect(calls == ["begin", "event", "event", "end"])
    calls = []
    loop.runTurn(wait: false)
    #expect(calls == ["begin", "end"])
  }

  @Test("hooks of the beginning run when the wait is over")
  func beginningBehindTheWait() throws {
    let loop = try #require(EventLoop())
    var (begun, hasFired) = (Instant.distantPast, false)
    loop.atTurnBegin { begun = SystemClock.now() }
    let timer = LoopEvent(timerOn: loop) { hasFired = true }
    let earliest = SystemClock.now().adding(nanoseconds: 5_000_000)
    timer.start(afterNanoseconds: 5_000_000)
    turn(loop) { hasFired }
    #expect(begun >= earliest)
  }

  @Test("what waits for no commit keeps the loop from waiting, also while others' output is held")
  func clientsWhileHeld() throws {
    let loop = try #require(EventLoop())
    let (server, client) = (Writer(loop: loop), Writer(loop: loop))
    client.waitsForCommits = false
    var hasSlept = false
    let alarm = LoopEvent(timerOn: loop) { hasSlept = true }
    alarm.start(afterNanoseconds: 500_000_000)
    loop.holdOutput()
    server.speak()
    client.speak()
    loop.runTurn()
    #expect(client.flushes == 1 && !hasSlept)
    // Only what is held is left.
    loop.runTurn()
    #expect(client.flushes == 1 && hasSlept)
  }

  @Test("a loop runs until it is stopped, from an event or from a hook, and can run again")
  func stops() throws {
    let loop = try #require(EventLoop())
    var turns = 0
    loop.atTurnEnd {
      turns += 1
      if turns == 10 { loop.stop() }
    }
    let timer = LoopEvent(timerOn: loop) {}
    timer.start(afterNanoseconds: 0)
    let beat = LoopEvent(timerOn: loop) { loop.stop() }
    beat.start(afterNanoseconds: 2_000_000)
    loop.run()
    #expect(turns < 10)
    let again = LoopEvent(timerOn: loop) {}
    loop.atTurnEnd { again.start(afterNanoseconds: 0) }
    again.start(afterNanoseconds: 0)
    loop.run()
    #expect(turns == 10)
  }

  @Test(
    "a timer that the system does not take is tried again in each turn, unless it was cancelled or let go")
  func refusedTimers() throws {
    let loop = try #require(EventLoop())
    var fired: [String] = []
    let heartbeat = LoopEvent(timerOn: loop) {}
    let kept = LoopEvent(timerOn: loop) { fired.append("kept") }
    let cancelled = LoopEvent(timerOn: loop) { fired.append("cancelled") }
    var letGo: LoopEvent? = LoopEvent(timerOn: loop) { fired.append("let go") }
    loop.refused = [-1]
    kept.start(afterNanoseconds: 1)
    cancelled.start(afterNanoseconds: 1)
    letGo?.start(afterNanoseconds: 1)
    for _ in 0..<5 { loop.runTurn(wait: false) }
    #expect(fired.isEmpty)
    cancelled.cancel()
    letGo = nil
    loop.refused = []
    heartbeat.start(afterNanoseconds: 1_000_000)
    turn(loop) { fired == ["kept"] }
    for _ in 0..<5 { loop.runTurn(wait: false) }
    #expect(fired == ["kept"])
  }

  @Test("who wants to know hears once that the system does not watch a socket, and in a turn")
  func refusedSocket() throws {
    let loop = try #require(EventLoop())
    var ends: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    defer { for end in ends { SocketCalls.close(end) } }
    var (failures, readies) = (0, 0)
    let event = LoopEvent(loop, descriptor: ends[0], .write, onFailure: { failures += 1 }) { readies += 1 }
    var retried = 0
    let patient = LoopEvent(loop, descriptor: ends[1], .write) { retried += 1 }
    loop.refused = Set(ends)
    event.start()
    patient.start()
    #expect(failures == 0)
    loop.runTurn()
    #expect(failures == 1 && !event.isActive)
    loop.runTurn(wait: false)
    #expect(failures == 1 && readies == 0 && retried == 0 && patient.isActive)
    loop.refused = []
    event.start()
    turn(loop) { readies > 0 && retried > 0 }
    event.cancel()
    patient.cancel()
    let counts = [readies, retried]
    loop.runTurn(wait: false)
    #expect(failures == 1 && [readies, retried] == counts)
  }
}

/// Sees whether an object is still there.
private final class Weak<Object: AnyObject> {
  weak var object: Object?
  init(_ object: Object?) { self.object = object }
}
