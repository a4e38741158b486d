import Basics
import Broker
import Cluster
import Node
import Platform
import PushModel
import Testing

import Emulator
import Transport

extension TwoNodes {
  /// A push that comes in by a node, for a device of its own; answers its id. The clock is one for all nodes.
  @discardableResult
  func push(_ node: EmulatorHarness, _ text: String) throws -> UInt64 {
    let udid = try #require(UDID(node === a ? "phone-2" : "phone-1"))
    let topic = try #require(Topic(Site.topic))
    for node in [a, b] { node.clock.advance(nanoseconds: 1_000_000_000) }
    let token = try #require(node.emulator.change(.install, topic, on: udid, in: .sandbox))
    try node.submit(token.bytes, Array(#"{"t":"\#(text)"}"#.utf8))
    node.settle()
    return node.broker.journal.nextId - 1
  }
}

/// The document of an answer that is whole.
func document(
  of answer: String, _ status: Int, sourceLocation: SourceLocation = #_sourceLocation
) throws -> JSONValue {
  try #require(answer.hasPrefix("HTTP/1.1 \(status)"), "\(answer)", sourceLocation: sourceLocation)
  let body = try #require(
    answer.split(separator: "\r\n\r\n", maxSplits: 1).last, sourceLocation: sourceLocation)
  return try #require(
    JSONReader.read(Array(body.utf8), maximumDepth: 16), sourceLocation: sourceLocation)
}

/// The notifications of an answer.
func shown(_ document: JSONValue) -> [JSONValue] {
  if case .array(let shown)? = document.member("notifications") { shown } else { [] }
}

/// What the pushes say that an answer shows.
func texts(_ document: JSONValue) -> [String?] { shown(document).map { $0.member("payload")?.string("t") } }

extension LiveTests {
  /// What came in by one node is asked of the other.
  @Suite("The history of several nodes")
  struct MergedHistoryTests {
    private let nodes: TwoNodes
    private var both: [EmulatorHarness] { [nodes.a, nodes.b] }

    init() throws { nodes = try TwoNodes { $0.listeners.console = .number(0) } }

    private func get(_ node: EmulatorHarness, _ query: String) throws -> JSONValue {
      try document(of: node.ask("GET", "/api/v1/notifications\(query)"), 200)
    }

    @Test("any node shows what came in by each, in order of time, and says by which")
    func merged() throws {
      for (number, node) in [nodes.a, nodes.b, nodes.b, nodes.a].enumerated() {
        try nodes.push(node, "\(number)")
      }
      for node in both {
        let newest = try get(node, "?order=newest")
        #expect(texts(newest) == ["3", "2", "1", "0"])
        #expect(shown(newest).map { $0.string("node") } == ["node-a", "node-b", "node-b", "node-a"])
        #expect(newest.member("missing")?.text == "[]")
        #expect(try texts(get(node, "?limit=3")) == ["0", "1", "2"])
        #expect(try texts(get(node, "?udid=phone-1")) == ["1", "2"])
      }
    }

    @Test("pages follow each other without a gap, whichever node is asked for the next")
    func pages() throws {
      for number in 0..<7 { try nodes.push(both[number % 3 == 0 ? 0 : 1], "\(number)") }
      for (order, cursor) in [("oldest", "since"), ("newest", "before")] {
        var (found, next): ([String?], String?) = ([], nil)
        for page in 0..<4 {
          let query = "?order=\(order)&limit=2" + (next.map { "&\(cursor)=\($0)" } ?? "")
          let document = try get(both[page % 2], query)
          found += texts(document)
          next = document.string("next")
        }
        let expected = (0..<7).map { "\($0)" }
        #expect(found == (order == "oldest" ? expected : expected.reversed()), "\(order)")
      }
    }

    @Test("who goes on behind the end is told of what comes by any node")
    func goesOn() throws {
      try nodes.push(nodes.a, "old")
      try nodes.push(nodes.b, "other")
      let next = try #require(get(nodes.a, "?q=nothing").string("next"))
      #expect(try texts(get(nodes.b, "?since=\(next)")) == [])
      try nodes.push(nodes.b, "new")
      try nodes.push(nodes.a, "newer")
      for node in both { #expect(try texts(get(node, "?since=\(next)")) == ["new", "newer"]) }
    }

    @Test("a notification is found by its id at each node, and deleted by a request to any")
    func one() throws {
      let ids = try [nodes.push(nodes.a, "mine"), nodes.push(nodes.b, "yours")]
      #expect(ids.map(ClusterMembership.ordinal) == [nodes.viewA.ordinal, nodes.viewB.ordinal])
      for (id, text) in zip(ids, ["mine", "yours"]) {
        for node in both {
          #expect(try node.ask("GET", "/api/v1/notifications/\(id)").contains(#""payload":{"t":"\#(text)"}"#))
        }
      }
      #expect(try nodes.a.ask("GET", "/api/v1/notifications/7").hasPrefix("HTTP/1.1 404"))
      let deleted = try nodes.a.ask("DELETE", "/api/v1/notifications?topic=\(Site.topic)")
      #expect(deleted.hasSuffix(#"{"deleted":2}"#))
      for node in both { #expect(try texts(get(node, "")) == []) }
    }

    @Test("a node that does not answer is left out and named, and nothing is deleted without it")
    func missing() throws {
      try nodes.push(nodes.a, "mine")
      try nodes.push(nodes.b, "yours")
      // Nobody says hello there.
      try nodes.nodesA.caller.timeout = 100_000_000
      nodes.table.peers["node-c"] = NodePeer(
        name: "node-c", address: try nodes.b.address("console"), ordinal: 9)
      let seen = try get(nodes.a, "")
      #expect(texts(seen) == ["mine", "yours"] && seen.member("missing")?.text == #"["node-c"]"#)
      let refused = try nodes.a.ask("DELETE", "/api/v1/notifications")
      #expect(refused.hasPrefix("HTTP/1.1 503") && refused.contains("node-c"))
      #expect(nodes.a.broker.journal.shown(nodes.a.broker.journal.nextId - 1) != nil)
      let gone = try nodes.a.ask(
        "GET", "/api/v1/notifications/\(ClusterMembership.idBase(of: 9) + 1)")
      #expect(gone.hasPrefix("HTTP/1.1 503") && gone.contains("node-c"))
    }

    @Test("long histories are passed on piece by piece, and a client that reads nothing holds little of them")
    func long() throws {
      let text = String(repeating: "x", count: 3000)
      for _ in 0..<400 { try nodes.push(nodes.b, text) }
      let socket = try nodes.a.begin("GET", "/api/v1/notifications")
      nodes.a.turn(milliseconds: 300)
      #expect(nodes.a.emulator.console?.openConnections.allSatisfy { $0.queuedBytes < 400_000 } == true)
      let whole = nodes.a.readToEnd(socket, until: "all of it has come")
      #expect(whole.split(separator: #""receivedAt":"#).count == 401)
      nodes.a.turn(until: "nothing is left") { nodes.b.connections("nodes").isEmpty }
    }
  }
}
