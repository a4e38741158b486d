import Basics
import Foundation
import NATSWire
import Platform
import Testing
import Transport

import Cluster

@Suite(.enabled(if: NATSServer.isInstalled, "nats-server is not installed"))
struct LogStreamTests {
  @Test func appendsBehindWhatIsKnown() throws {
    let server = try NATSServer()
    let log = FollowedLog(try Line(to: server))
    // NATS is not there yet when it is opened.
    let made = try log.open().get()
    #expect(made.lastSequence == 0 && made.messages == 0)
    #expect(log.log.created == made.created && log.log.trouble == nil)
    #expect(try log.append("one", behind: 0) == .success(1))
    #expect(try log.append("two", behind: 1) == .success(2))
    #expect(try log.append("late", behind: 1) == .failure(.wrongLastSequence(2)))
    #expect(try log.append("early", behind: 7) == .failure(.wrongLastSequence(2)))
    let record = try log.answer { log.log.readBack(2, done: $0) }.get()
    #expect(record.sequence == 2 && record.payload == Array("two".utf8))
    guard
      case .failure(.refused(JetStreamFailure.messageNotFoundCode, _)) = try log.answer({
        log.log.readBack(3, done: $0)
      })
    else {
      Issue.record("there is no record 3")
      return
    }
    // Again by somebody else: the same stream.
    #expect(try FollowedLog(log.line).open().get().created == made.created)
  }

  @Test func tellsEachRecordOnceHoweverOftenTheNATSServerIsKilled() throws {
    let server = try NATSServer()
    let log = try FollowedLog(open: try Line(to: server))
    try log.wait(until: "the end of nothing") { log.events == [.caughtUp] }
    #expect(log.log.isLive(SystemClock.now()))
    var last: UInt64 = 0
    for round in 1...3 {
      for _ in 0..<20 { last = try log.appendForSure("\(last + 1)", behind: last) }
      // One is on its way while it dies.
      var answer: Result<UInt64, JetStreamFailure>?
      log.log.append(Array("\(last + 1)".utf8), behind: last) { answer = $0 }
      log.line.loop.runTurn(wait: false)
      server.kill()
      _ = try log.line.wait(until: "its end") { answer }
      _ = try log.line.wait(until: "word of that") {
        if case .unreachable? = log.line.state { true } else { nil }
      }
      #expect(!log.log.isLive(SystemClock.now()))
      try server.start()
      last = try log.appendForSure("\(last + 1)", behind: last)
      try log.wait(until: "round \(round)") {
        log.sequences.last == last && log.count(.caughtUp) == round + 1
      }
    }
    #expect(log.sequences == Array(1...63))
    #expect(log.texts == (1...63).map { "\($0)" })
    #expect(log.count(.gap) == 3)
  }

  /// A consumer that lives through it has nothing to say of the time in which NATS stood.
  @Test func silenceOfANATSServerThatStandsIsAGap() throws {
    let server = try NATSServer()
    let log = try FollowedLog(open: try Line(to: server))
    #expect(try log.append("1", behind: 0) == .success(1))
    try log.wait(until: "the record") { log.sequences == [1] }
    #expect(log.count(.gap) == 0 && log.log.isLive(SystemClock.now()))
    server.setStanding(true)
    defer { server.setStanding(false) }
    try log.wait(until: "doubt") { !log.log.isLive(SystemClock.now()) }
    server.setStanding(false)
    #expect(try log.appendForSure("2", behind: 1) == 2)
    try log.wait(until: "the next record") { log.sequences == [1, 2] }
    #expect(log.count(.gap) >= 1)
    // Whoever counts on having seen the end hears of it again, before the new record or behind it.
    try log.wait(until: "the end again") {
      log.events.lastIndex(of: .caughtUp) ?? 0 > log.events.lastIndex(of: .gap) ?? .max
    }
  }

  @Test func bringsSixtyFourLogsBackAtOnce() throws {
    let server = try NATSServer()
    let line = try Line(to: server)
    let logs = (0..<64).map { FollowedLog(line, "APNS_Z\($0)") }
    var opened = 0
    for log in logs {
      log.log.open { result in
        if case .success = result { opened += 1 }
        log.follow()
      }
    }
    _ = try line.wait(until: "all are open") { opened == 64 ? true : nil }
    for log in logs { log.log.append([1], behind: 0) { _ in } }
    _ = try line.wait(until: "all are written") { logs.allSatisfy { $0.sequences == [1] } ? true : nil }
    server.kill()
    _ = try line.wait(until: "word of that") { if case .unreachable? = line.state { true } else { nil } }
    try server.start()
    let start = SystemClock.now()
    _ = try line.wait(until: "all are back") {
      logs.allSatisfy { $0.log.isLive(SystemClock.now()) } ? true : nil
    }
    // One wait for the connection is a second at most; the rest is room for a slow machine.
    #expect(SystemClock.now().nanoseconds(since: start) < 4_000_000_000)
    #expect(logs.allSatisfy { $0.count(.gap) == 1 && $0.sequences == [1] })
  }

  /// Two nodes that start together on an empty NATS server.
  @Test func twoWhoMakeALogAtOnceMeanTheSame() throws {
    let server = try NATSServer()
    let first = try Line(to: server)
    let second = try Line(to: server, on: first.loop)
    for line in [first, second] { try line.waitUntilReady() }
    var seen: [String: [String]] = [:]
    let logs = (0..<64).flatMap { number in [first, second].map { FollowedLog($0, "APNS_Z\(number)") } }
    for log in logs {
      let name = log.log.configuration.name
      log.log.open { result in
        seen[name, default: []].append((try? result.get().created) ?? "\(result)")
      }
    }
    _ = try first.wait(until: "all are open") {
      seen.values.reduce(0) { $0 + $1.count } == logs.count ? true : nil
    }
    #expect(seen.values.filter { $0[0] != $0[1] } == [])
  }

  @Test func refusesAStreamOfAnotherConfiguration() throws {
    let server = try NATSServer()
    let log = FollowedLog(try Line(to: server))
    try log.line.waitUntilReady()
    let other =
      #"{"name":"APNS_Z0","subjects":["apns.log.APNS_Z0"],"max_age":60000000000,"storage":"memory"}"#
    var made: NATSAnswer?
    log.line.client.request("$JS.API.STREAM.CREATE.APNS_Z0", Array(other.utf8), within: 5_000_000_000) {
      made = $0
    }
    try log.line.wait(until: "the other stream") { made }.isDone()
    let sentence = """
      the stream APNS_Z0 was not made by apns-emulator, or was changed: discard: expected "new", got "old"; max_age: expected 0, got \
      60000000000; storage: expected "file", got "memory"; allow_direct: expected true, got false; deny_delete: expected \
      true, got false
      """
    #expect(try log.open() == .failure(.unsuitable(sentence)))
  }

  @Test func saysThatAnotherStreamHasItsSubject() throws {
    let server = try NATSServer()
    let log = FollowedLog(try Line(to: server))
    try log.line.waitUntilReady()
    var made: NATSAnswer?
    let other = #"{"name":"OTHER","subjects":["apns.log.APNS_Z0"]}"#
    log.line.client.request("$JS.API.STREAM.CREATE.OTHER", Array(other.utf8), within: 5_000_000_000) {
      made = $0
    }
    try log.line.wait(until: "the other stream") { made }.isDone()
    let words = "subjects overlap with an existing stream"
    #expect(try log.open() == .failure(.refused(code: 10065, words: words)))
  }

  @Test func saysThatThereIsNoJetStream() throws {
    let server = try NATSServer(["-n", "plain"], jetStream: false)
    let log = FollowedLog(try Line(to: server))
    #expect(
      try log.open()
        == .failure(.unsuitable("the NATS server plain has no JetStream: start it with -js")))
  }

  @Test func saysThatARecordIsTooLarge() throws {
    let server = try NATSServer(configuration: "max_payload: 4096")
    let line = try Line(to: server)
    let refused = try FollowedLog(line).open()
    #expect(refused == .failure(.tooLarge(1_001_024, limit: 4096)))
    let log = FollowedLog(line, largestRecord: 3000)
    _ = try log.open().get()
    let answer = try log.append(String(repeating: "x", count: 4096), behind: 0)
    guard case .failure(.tooLarge(4097..., limit: 4096)) = answer else {
      Issue.record("\(answer)")
      return
    }
    // The connection has lived through it.
    #expect(try log.append("small", behind: 0) == .success(1))
    #expect(log.line.states.count == 1)
  }

  @Test func readsBackWhatIsAsLargeAsARecordMayBe() throws {
    let server = try NATSServer()
    let log = FollowedLog(try Line(to: server))
    _ = try log.open().get()
    let bytes = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    #expect(try log.answer { log.log.append(bytes, behind: 0, done: $0) } == .success(1))
    #expect(try log.answer { log.log.readBack(1, done: $0) }.get().payload == bytes)
  }

  @Test func aFullStoreRefusesAndTakesAgainBehindAPurge() throws {
    let server = try NATSServer(configuration: "jetstream { max_file: 1MB }")
    let log = try FollowedLog(open: try Line(to: server))
    let large = String(repeating: "x", count: 200_000)
    var last: UInt64 = 0
    var refusal: JetStreamFailure?
    while refusal == nil, last < 10 {
      switch try log.append(large, behind: last) {
      case .success(let sequence): last = sequence
      case .failure(let failure): refusal = failure
      }
    }
    #expect(refusal?.description == "JetStream refuses: insufficient resources (10023)")
    #expect((1..<10).contains(last))
    _ = try log.answer { log.log.purge(before: last, done: $0) }.get()
    #expect(try log.append(large, behind: last) == .success(last + 1))
    try log.wait(until: "all records") { log.sequences.last == last + 1 }
    #expect(log.sequences == Array(1...last + 1))
  }

  @Test func aStreamThatIsDeletedIsLost() throws {
    let server = try NATSServer()
    let log = try FollowedLog(open: try Line(to: server))
    #expect(try log.append("1", behind: 0) == .success(1))
    try log.line.answer(.delete(stream: "APNS_Z0")).isDone()
    let loss = JetStreamFailure.unsuitable("the stream APNS_Z0 was deleted")
    #expect(try log.append("2", behind: 1) == .failure(loss))
    #expect(try log.answer { log.log.readBack(1, done: $0) } == .failure(loss))
    try log.wait(until: "the loss") {
      log.events.last == .lost(.unsuitable("the stream APNS_Z0 was deleted"))
    }
  }

  @Test func aStreamThatIsMadeAgainIsLost() throws {
    let server = try NATSServer()
    let log = try FollowedLog(open: try Line(to: server))
    #expect(try log.append("1", behind: 0) == .success(1))
    try log.line.answer(.delete(stream: "APNS_Z0")).isDone()
    let again = try FollowedLog(log.line).open().get()
    #expect(try log.append("2", behind: 1) == .failure(.wrongLastSequence(0)))
    // Followers hear of it, too: nothing is delivered any more.
    try log.wait(until: "the loss") {
      log.events.last
        == .lost(.unsuitable("the stream APNS_Z0 was deleted and made again, at \(again.created)"))
    }
  }

  /// Whose leader only writes: a stream that is as long as the one before would take its next record.
  @Test func aNATSServerThatHasForgottenEverythingIsWrittenNoMore() throws {
    let server = try NATSServer()
    let log = FollowedLog(try Line(to: server))
    _ = try log.open().get()
    #expect(try log.append("1", behind: 0) == .success(1))
    server.kill()
    try FileManager.default.removeItem(at: server.folder.appending(path: "jetstream"))
    try server.start()
    let other = FollowedLog(try Line(to: server))
    let made = try other.open().get()
    #expect(try other.append("alien", behind: 0) == .success(1))
    let sentence = "the stream APNS_Z0 was deleted and made again, at \(made.created)"
    var answer: Result<UInt64, JetStreamFailure>?
    while answer == nil || answer == .failure(.nobodyListens) || answer == .failure(.late) {
      answer = try log.append("2", behind: 1)
      log.line.loop.runTurn(wait: false)
    }
    #expect(answer == .failure(.unsuitable(sentence)))
    #expect(try other.append("alien", behind: 1) == .success(2))
  }

  @Test func saysThatWhatIsNextWasPurged() throws {
    let server = try NATSServer()
    let log = FollowedLog(try Line(to: server))
    _ = try log.open().get()
    for number in 0..<5 as Range<UInt64> { _ = try log.append("\(number)", behind: number).get() }
    _ = try log.answer { log.log.purge(before: 4, done: $0) }.get()
    log.follow()
    try log.wait(until: "word of that") { log.events == [.purged(first: 4)] }
    log.follow(from: 4)
    try log.wait(until: "the rest") { log.events.last == .caughtUp }
    #expect(log.sequences == [4, 5])
  }
}
