import Basics
import Cluster
import Node
import Platform
import Testing

import Emulator
import Transport

extension LiveTests {
  /// How nodes connect to each other.
  @Suite("The listener for other nodes")
  struct NodesServiceTests {
    private let nodes: TwoNodes

    init() throws { nodes = try TwoNodes { $0.listeners.console = .number(0) } }

    /// What came of a call.
    private final class Outcome {
      var connection: SocketConnection?
      var sentence: String?
      var isKnown: Bool { connection != nil || sentence != nil }
    }

    /// Has A call B, and waits for what comes of it.
    private func call(
      _ kind: NodeHello.Kind, at peer: NodePeer? = nil, as handler: (any ConnectionHandler)? = nil,
      sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> Outcome {
      let outcome = Outcome()
      let peer = try peer ?? nodes.peerB
      try nodes.nodesA.caller.call(peer, for: kind) { result in
        switch result {
        case .success(let connection):
          if let handler { connection.handler = handler }
          outcome.connection = connection
        case .failure(let failure): outcome.sentence = failure.sentence
        }
      }
      nodes.a.turn(until: "something comes of it", sourceLocation: sourceLocation) { outcome.isKnown }
      return outcome
    }

    /// Takes the links that come to a listener of B, whose address is answered with it.
    private final class Taker: LinkTaker {
      let accepted = Recorder()
      private(set) var taken: (peer: String, connection: SocketConnection)?

      func take(_ peer: String, _ connection: SocketConnection) {
        connection.handler = accepted
        taken = (peer, connection)
      }
    }

    private func listenForLinks(_ taker: Taker) throws -> (SocketListener, NodePeer) {
      let listener = try nodes.nodesB.listen(
        on: SocketAddress(host: "127.0.0.1", port: 0), links: taker, for: nodes.b.emulator.host)
      return (listener, NodePeer(name: "node-b", address: listener.address))
    }

    @Test("a link leads to whoever takes links, and both sides may speak")
    func link() throws {
      let (taker, called) = (Taker(), Recorder())
      let (listener, peer) = try listenForLinks(taker)
      defer { listener.stopAccepting() }
      let outcome = try call(.link, at: peer, as: called)
      nodes.a.turn(until: "it is taken") { taker.taken != nil }
      #expect(taker.taken?.peer == "node-a" && taker.taken?.connection.waitsForCommits == true)
      outcome.connection?.send(Array("ping".utf8))
      taker.taken?.connection.send(Array("pong".utf8))
      let accepted = taker.accepted
      nodes.a.turn(until: "both have heard") { !called.received.isEmpty && !accepted.received.isEmpty }
      #expect(called.received == Array("pong".utf8) && accepted.received == Array("ping".utf8))
      outcome.connection?.abort("over")
      nodes.a.turn(until: "it has gone") { listener.openConnections.isEmpty }
      #expect(accepted.hasEnded)
    }

    @Test("a console connection is one of the console's server, which knows that a node asks")
    func console() throws {
      let answer = Recorder()
      let outcome = try call(.console, as: answer)
      outcome.connection?.send(Array("GET /livez HTTP/1.1\r\nHost: elsewhere\r\n\r\n".utf8))
      nodes.a.turn(until: "it is answered") { !answer.received.isEmpty }
      #expect(String(decoding: answer.received, as: UTF8.self).hasPrefix("HTTP/1.1 "))
      #expect(nodes.b.emulator.console?.openConnections.count == 1)
      #expect(nodes.b.connections("nodes").isEmpty)
    }

    @Test("who has another secret is refused, and both sides say so")
    func wrongSecret() throws {
      nodes.viewA.secret = Array("another".utf8)
      let taker = Taker()
      let (listener, peer) = try listenForLinks(taker)
      defer { listener.stopAccepting() }
      let outcome = try call(.link, at: peer)
      #expect(outcome.sentence?.contains("different secrets") == true)
      nodes.a.turn(until: "it has gone") { listener.openConnections.isEmpty }
      #expect(taker.taken == nil)
    }

    @Test("a node at whose address another listens by now is not taken for it")
    func anotherNode() throws {
      let stranger = NodePeer(name: "node-c", address: try nodes.peerB.address)
      let outcome = try call(.console, at: stranger)
      #expect(outcome.sentence == "expected the node node-c, got the node node-b")
    }

    @Test("what is not there is said: no taker, no listener")
    func nobody() throws {
      #expect(try call(.link).sentence == "it says: the node accepts no links yet")
      let gone = NodePeer(name: "node-b", address: SocketAddress(host: "127.0.0.9", port: 1))
      #expect(try call(.link, at: gone).sentence?.contains("127.0.0.9:1") == true)
    }

    @Test("a stranger hears what the port is for, and who says nothing is not waited for")
    func strangers() throws {
      let browser = try RawSocket(nodes.peerB.address)
      browser.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
      #expect(
        nodes.a.readToEnd(browser, until: "it has heard why").hasPrefix("NO this is the port for other nodes")
      )
      try nodes.nodesB.caller.timeout = 50_000_000
      let silent = try RawSocket(nodes.peerB.address)
      #expect(nodes.a.readToEnd(silent, until: "it is sent away") == "NO no hello within 50 ms\n")
    }

    @Test("a node that accepts and says nothing is not waited for")
    func silent() throws {
      let mute = Recorder()
      let listener = try SocketListener(
        loop: nodes.a.loop, address: SocketAddress(host: "127.0.0.1", port: 0), context: nil
      ) { _ in mute }
      defer { listener.stopAccepting() }
      try nodes.nodesA.caller.timeout = 50_000_000
      let outcome = try call(.link, at: NodePeer(name: "node-b", address: listener.address))
      #expect(outcome.sentence == "no answer to the hello within 50 ms")
      for connection in listener.openConnections { connection.abort("over") }
    }

    @Test("without a cluster there is no such listener")
    func alone() throws {
      let harness = try EmulatorHarness()
      #expect(harness.emulator.ports["nodes"] == nil)
    }
  }
}
