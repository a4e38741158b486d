import Basics
import NATSWire
import Platform
import Testing
import Transport

import Cluster

@Suite(.enabled(if: NATSServer.isInstalled, "nats-server is not installed"))
struct NATSClientTests {
  private let stream = JetStreamConfiguration(name: "APNS_Z0", subject: "apns.log.0")

  @Test func writesALogAndReadsIt() throws {
    let server = try NATSServer()
    let line = try Line(to: server)
    try line.waitUntilReady()
    let made = try line.answer(.create(stream)).state(of: stream)
    #expect(made.differences == [] && made.lastSequence == 0 && made.messages == 0)
    #expect(try line.append("one", behind: 0).appended(to: "APNS_Z0") == 1)
    #expect(throws: JetStreamFailure.wrongLastSequence(1)) {
      try line.append("late", behind: 0).appended(to: "APNS_Z0")
    }
    for number in 1..<100 as Range<UInt64> {
      #expect(try line.append("more", behind: number).appended(to: "APNS_Z0") == number + 1)
    }
    #expect(try line.answer(.message(stream: "APNS_Z0", sequence: 1)).record().payload == Array("one".utf8))
    try line.answer(.purge(stream: "APNS_Z0", before: 11)).isDone()
    #expect(try line.answer(.information(stream: "APNS_Z0")).state(of: stream).firstSequence == 11)

    var reader = JetStreamDelivery(from: 1)
    var found: [UInt64] = []
    var failure: (any Error)?
    let subject = "apns.test.delivery"
    let subscription = line.client.subscribe(subject) { message in
      do {
        switch try reader.take(message) {
        case .record(let record): found.append(record.sequence)
        case .flowControl(let reply): line.client.publish(reply, [])
        case .idle: break
        }
      } catch { failure = error }
    }
    try line.answer(.deliver(stream: "APNS_Z0", from: 1, to: subject)).isDone()
    _ = try line.wait(until: "all records") { found.count >= 90 || failure != nil ? true : nil }
    #expect(failure == nil)
    #expect(found == Array(11...100))
    line.client.unsubscribe(subscription)
    try line.answer(.delete(stream: "APNS_Z0")).isDone()
    #expect(throws: JetStreamFailure.refused(code: 10059, words: "stream not found")) {
      try line.answer(.information(stream: "APNS_Z0")).state(of: stream)
    }
  }

  @Test func saysThatNobodyListens() throws {
    let server = try NATSServer()
    let line = try Line(to: server)
    // Before there is a connection, and on one.
    var early: NATSAnswer?
    line.client.request("nobody.there", [], within: 1_000_000_000) { early = $0 }
    #expect(early == .nobodyListens)
    try line.waitUntilReady()
    #expect(throws: JetStreamFailure.nobodyListens) {
      try line.append("one", behind: 0).appended(to: "APNS_Z0")
    }
  }

  @Test func comesBackWithItsSubscriptions() throws {
    let server = try NATSServer()
    let line = try Line(to: server)
    try line.waitUntilReady()
    var heard: [[UInt8]] = []
    _ = line.client.subscribe("a.*") { heard.append($0.payload) }
    // Nobody answers to it: it is under way when the server is killed.
    _ = line.client.subscribe("silent") { _ in }
    line.client.publish("a.b", [1])
    _ = try line.wait(until: "the first message") { heard.first }
    var answer: NATSAnswer?
    line.client.request("silent", [], within: 60_000_000_000) { answer = $0 }
    line.loop.runTurn(wait: false)
    server.kill()
    #expect(try line.wait(until: "the end of the request") { answer } == .late)
    try server.start()
    try line.waitUntilReady()
    line.client.publish("a.c", [2])
    _ = try line.wait(until: "the second message") { heard.count == 2 ? true : nil }
    #expect(heard == [[1], [2]])
  }

  @Test func bringsItsCredentials() throws {
    let server = try NATSServer(["--user", "apns", "--pass", "secret"])
    let line = try Line(to: server, credentials: .password(user: "apns", password: "secret"))
    try line.waitUntilReady()
    let stranger = try Line(to: server)
    let reason = try stranger.wait(until: "the refusal") {
      if case .unreachable(let reason)? = stranger.state { reason } else { nil }
    }
    #expect(reason == "nats://\(server.address): the NATS server refuses this node: Authorization Violation")
  }
}
