import Basics
import Cluster
import Platform
import Testing

import Emulator
import Transport

extension LiveTests {
  /// Who waits at one node is told of what comes in by the other.
  @Suite("Waits for what comes in by any of several nodes")
  struct MergedWaitTests {
    private let nodes: TwoNodes
    private var both: [EmulatorHarness] { [nodes.a, nodes.b] }

    init() throws { nodes = try TwoNodes { $0.listeners.console = .number(0) } }

    private func wait(_ node: EmulatorHarness, _ body: String, _ status: Int = 200) throws -> JSONValue {
      try document(of: node.ask("POST", "/api/v1/notifications/wait", body), status)
    }

    /// Somebody who waits, once both nodes know.
    private func begin(_ body: String) throws -> RawSocket {
      let socket = try nodes.a.begin("POST", "/api/v1/notifications/wait", body)
      nodes.a.turn(until: "both wait") {
        nodes.b.emulator.console?.openConnections.first?.bytesWritten ?? 0 > 0
      }
      return socket
    }

    private func answer(_ socket: RawSocket, _ status: Int = 200) throws -> JSONValue {
      try document(of: nodes.a.readToEnd(socket), status)
    }

    private func untilNobodyWaits() {
      nodes.a.turn(until: "nobody waits") {
        nodes.b.connections("nodes").isEmpty && nodes.b.emulator.console?.openConnections.isEmpty == true
      }
    }

    @Test("what comes by each counts, and each is shown once, in order of time")
    func counts() throws {
      let socket = try begin(#"{"match":{"topic":"\#(Site.topic)"},"count":3,"timeoutMs":60000}"#)
      for (node, text) in [(nodes.b, "1"), (nodes.a, "2"), (nodes.b, "3")] { try nodes.push(node, text) }
      let found = try answer(socket)
      #expect(texts(found) == ["1", "2", "3"] && found.member("missing")?.text == "[]")
      #expect(shown(found).map { $0.string("node") } == ["node-b", "node-a", "node-b"])
      untilNobodyWaits()
    }

    @Test("what came before counts too, and who goes on behind it finds what came later")
    func goesOn() throws {
      for (node, text) in [(nodes.b, "old"), (nodes.a, "first"), (nodes.b, "second")] {
        try nodes.push(node, text)
      }
      for node in both {
        let first = try wait(node, #"{"match":{"q":"first"}}"#)
        #expect(texts(first) == ["first"])
        let next = try #require(first.string("next"))
        let second = try wait(node, #"{"match":{"topic":"\#(Site.topic)"},"since":"\#(next)"}"#)
        #expect(texts(second) == ["second"])
        let last = try #require(second.string("next"))
        let none = try wait(node, #"{"since":"\#(last)","timeoutMs":0}"#, 408)
        #expect(texts(none) == [] && none.member("nearMisses")?.text == "[]")
      }
    }

    @Test("in vain: what came near by any node is told, the nearest first")
    func inVain() throws {
      try nodes.push(nodes.a, "mine")
      try nodes.push(nodes.b, "yours")
      for (node, timeout) in [(nodes.a, 0), (nodes.b, 100)] {
        let missed = try wait(
          node, #"{"match":{"udid":"phone-1","q":"nothing"},"count":2,"timeoutMs":\#(timeout)}"#, 408)
        guard case .array(let misses)? = missed.member("nearMisses") else { throw CancellationError() }
        #expect(misses.map { $0.member("notification")?.string("node") } == ["node-b", "node-a"])
        #expect(
          missed.member("error")?.string("message")
            == "0 of 2 notifications matched within \(timeout) ms")
        #expect(missed.member("missing")?.text == "[]")
      }
      untilNobodyWaits()
    }

    @Test("a node that can't be asked is named in vain, and hinders nobody who finds enough")
    func missing() throws {
      nodes.table.peers["node-c"] = NodePeer(
        name: "node-c", address: SocketAddress(host: "127.0.0.9", port: 1), ordinal: 9)
      let socket = try begin(#"{"timeoutMs":60000}"#)
      try nodes.push(nodes.b, "yours")
      #expect(try texts(answer(socket)) == ["yours"])
      let missed = try wait(nodes.a, #"{"match":{"q":"nothing"},"timeoutMs":50}"#, 408)
      #expect(missed.member("missing")?.text == #"["node-c"]"#)
    }

    @Test("a node that comes later is asked too")
    func comes() throws {
      let peer = try nodes.peerB
      nodes.table.peers["node-b"] = nil
      let socket = try nodes.a.begin("POST", "/api/v1/notifications/wait", #"{"timeoutMs":60000}"#)
      nodes.a.turn(until: "it waits") { nodes.a.emulator.console?.openConnections.count == 1 }
      try nodes.push(nodes.b, "yours")
      nodes.table.peers["node-b"] = peer
      #expect(try texts(answer(socket)) == ["yours"])
    }

    @Test("a client that goes leaves nothing at either node")
    func clientGoes() throws {
      do {
        let socket = try begin(#"{"timeoutMs":60000}"#)
        withExtendedLifetime(socket) {}
      }
      untilNobodyWaits()
      #expect(nodes.a.emulator.console?.openConnections.isEmpty == true)
    }
  }
}
