import Basics
import Broker
import Cluster
import Node
import Platform
import PushModel
import Testing
import Zones

import Emulator
import Transport

extension LiveTests {
  /// What is asked of node A's console about `phone-1`, which is B's.
  @Suite("Console requests for devices of other nodes")
  struct ConsoleRelayTests {
    private let nodes: TwoNodes
    private var edge: EmulatorHarness { nodes.a }
    private var leader: EmulatorHarness { nodes.b }

    init() throws { nodes = try TwoNodes { $0.listeners.console = .number(0) } }

    private func push(_ token: String, _ text: String) throws -> String {
      try edge.ask(
        "POST", "/api/v1/push",
        #"{"token":"\#(token)","topic":"\#(Site.topic)","payload":{"t":"\#(text)"}}"#)
    }

    /// Nodes that follow each other's logs both know the token.
    private func tellEdge() throws {
      let udid = try #require(UDID("phone-1"))
      let topic = try #require(Topic(Site.topic))
      _ = edge.emulator.change(.install, topic, on: udid, in: .sandbox)
    }

    private func untilNoConsoleIsAsked(sourceLocation: SourceLocation = #_sourceLocation) {
      edge.turn(until: "nothing is left", sourceLocation: sourceLocation) {
        leader.connections("nodes").isEmpty && leader.emulator.console?.openConnections.isEmpty == true
      }
    }

    @Test("an app that is installed here is installed there, and its node answers whole")
    func changes() throws {
      let made = try edge.ask(
        "POST", "/api/v1/devices/phone-1/apps/\(Site.topic)/install?environment=production", "{}")
      #expect(made.hasPrefix("HTTP/1.1 200 OK") && made.contains("Content-Length: "))
      #expect(made.contains(#""environment":"production""#))
      #expect(leader.broker.registry.deviceCount == 1 && edge.broker.registry.deviceCount == 0)
      let shown = try edge.ask("GET", "/api/v1/devices/phone-1")
      #expect(shown.contains(#""udid":"phone-1""#))
      let missing = try edge.ask("POST", "/api/v1/devices/phone-1/apps/com.example.none/remove")
      #expect(missing.hasPrefix("HTTP/1.1 404") && missing.contains(#""error""#))
      #expect(try edge.ask("HEAD", "/api/v1/devices/phone-1").hasPrefix("HTTP/1.1 200"))
      // Its own are answered without a word to others.
      let mine = try edge.ask("POST", "/api/v1/devices/phone-2/apps/\(Site.topic)/install", "{}")
      #expect(mine.hasPrefix("HTTP/1.1 200") && edge.broker.registry.deviceCount == 1)
      untilNoConsoleIsAsked()
    }

    @Test("a stream that is opened here is a device there: pushes, acknowledgements, the end")
    func stream() throws {
      try tellEdge()
      let reader = try edge.stream("phone-1", "?topic=\(Site.topic)&ack=explicit")
      #expect(leader.emulator.streams.count == 1 && edge.emulator.streams.count == 0)
      #expect(edge.emulator.console?.openConnections.allSatisfy(\.isStanding) == true)
      let token = try reader.token()
      #expect(try push(token, "x").hasPrefix("HTTP/1.1 200"))
      reader.wait(for: 1)
      let id = try #require(reader.events.last?["id"])
      let answer = try edge.ask("POST", "/api/v1/devices/phone-1/stream/ack", #"{"ids":[\#(id)]}"#)
      #expect(answer.hasSuffix(#"{"acknowledged":1}"#))
      #expect(leader.broker.counters.delivered == 1)
      _ = try edge.ask("POST", "/api/v1/devices/phone-1/disconnect")
      reader.waitForEnd()
      #expect(reader.events.last?.name == "end")
      #expect(reader.text.hasSuffix("0\r\n\r\n"), "it has ended in order")
      untilNoConsoleIsAsked()
    }

    @Test("a reader that goes ends the stream at its node")
    func readerGoes() throws {
      do {
        let reader = try edge.stream()
        #expect(leader.emulator.streams.count == 1)
        withExtendedLifetime(reader) {}
      }
      edge.turn(until: "its node knows") { leader.emulator.streams.count == 0 }
      untilNoConsoleIsAsked()
    }

    @Test("a reader that takes nothing holds little here, and is dropped at its node")
    func unread() throws {
      try tellEdge()
      leader.emulator.streams.timeout = 100_000_000
      try nodes.nodesA.consoles.stallTime = 2_500_000_000
      let token = try edge.stream().token()
      let unread = try edge.beginStream("/api/v1/devices/phone-1/stream?topic=\(Site.topic)")
      edge.turn(until: "it is there") { leader.emulator.streams.openedCount == 2 }
      let bytes = try #require(Hex.decode(token))
      let payload = Array(#"{"t":"\#(String(repeating: "x", count: 3000))"}"#.utf8)
      var (count, most) = (0, 0)
      edge.turn(until: "it is dropped") {
        for _ in 0..<20 where count < 20_000 && leader.emulator.streams.unreadCount == 0 {
          count += 1
          _ = try? leader.submit(bytes, payload)
        }
        most = max(most, edge.emulator.console?.openConnections.map(\.queuedBytes).max() ?? 0)
        return leader.emulator.streams.unreadCount == 1
      }
      #expect(most > 0 && most < 300_000, "\(most)")
      edge.turn(until: "it hears of it") { edge.emulator.console?.openConnections.isEmpty == true }
      withExtendedLifetime(unread) {}
    }

    @Test("who can't be asked, or goes amid an answer, is told of")
    func gone() throws {
      nodes.viewB.secret = Array("another".utf8)
      let refused = try edge.ask("GET", "/api/v1/devices/phone-1")
      #expect(refused.hasPrefix("HTTP/1.1 503") && refused.contains("Retry-After: 1"))
      #expect(refused.contains("node-b") && refused.contains("different secrets"))
      nodes.viewB.secret = nodes.viewA.secret
      nodes.table.leaders[1] = nil
      #expect(try edge.ask("GET", "/api/v1/devices/phone-1").hasPrefix("HTTP/1.1 503"))
      nodes.table.leaders[1] = "node-b"
      let reader = try edge.stream()
      for connection in leader.emulator.console?.openConnections ?? [] { connection.abort(reset: true) }
      reader.waitForEnd()
      #expect(!reader.text.hasSuffix("0\r\n\r\n"), "an answer that is cut is no whole one")
      try tellEdge()
      let token = try edge.stream().token()
      _ = try leader.ask(
        "POST", "/api/v1/faults", #"{"name":"slow","match":{},"effect":{"delayMs":60000}}"#)
      untilNoConsoleIsAsked()
      let waiting = try edge.begin(
        "POST", "/api/v1/push", #"{"token":"\#(token)","topic":"\#(Site.topic)","payload":{}}"#)
      edge.turn(until: "it waits there") { leader.emulator.console?.openConnections.count == 1 }
      nodes.table.leaders[1] = "node-a"
      try nodes.nodesA.seatsChanged(for: nodes.a.emulator.host)
      #expect(edge.readToEnd(waiting).hasPrefix("HTTP/1.1 503"))
      untilNoConsoleIsAsked()
    }

    @Test("a node whose view is older is told to come again, and asks nobody else")
    func staleView() throws {
      nodes.viewB.believes[1] = .at(try #require(nodes.table.peers["node-a"]))
      let answer = try edge.ask("GET", "/api/v1/devices/phone-1")
      #expect(answer.hasPrefix("HTTP/1.1 503") && answer.contains("just moved"))
      #expect(edge.connections("nodes").isEmpty)
    }

    @Test("a stream of a zone that moves ends at its node with a word")
    func moves() throws {
      let reader = try edge.stream()
      nodes.table.leaders[1] = "node-a"
      try nodes.nodesB.seatsChanged(for: nodes.b.emulator.host)
      reader.waitForEnd()
      #expect(reader.events.last?["because"]?.contains("moved") == true)
      let again = try edge.stream()
      #expect(edge.emulator.streams.count == 1 && leader.emulator.streams.count == 0)
      withExtendedLifetime(again) {}
    }

    @Test("a large body and a long answer go through whole")
    func large() throws {
      let text = String(repeating: "é", count: 30_000)
      let answer = try edge.ask("POST", "/api/v1/devices/phone-1/phone/tap", #"{"x":"\#(text)"}"#)
      #expect(answer.hasPrefix("HTTP/1.1 4"))
      let udid = try #require(UDID("phone-1"))
      for number in 0..<700 {
        let topic = try #require(Topic("com.example.a\(number)"))
        _ = leader.emulator.change(.install, topic, on: udid, in: .sandbox)
      }
      let shown = try body(of: edge.ask("GET", "/api/v1/devices/phone-1"))
      #expect(shown.count > 50_000)
      #expect(try shown == body(of: leader.ask("GET", "/api/v1/devices/phone-1")))
    }

    /// An answer's body, however it is framed.
    private func body(of answer: String) throws -> [UInt8] {
      var limits = HTTPLimits()
      limits.body = 1 << 20
      var parser = HTTPResponseParser(limits: limits, isAnswerToHead: false)
      parser.receive(Array(answer.utf8).span)
      var body: [UInt8] = []
      while let event = try parser.next() {
        if case .piece(let bytes) = event { body += bytes }
        if case .end = event { return body }
      }
      throw CancellationError()
    }
  }
}
