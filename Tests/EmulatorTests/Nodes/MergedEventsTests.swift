import Basics
import Cluster
import Platform
import Testing

import Console
import Emulator
import Transport

extension LiveTests {
  /// Who watches one node is told of what happens at the other.
  @Suite("The events of several nodes")
  struct MergedEventsTests {
    private let nodes: TwoNodes

    init() throws { nodes = try TwoNodes { $0.listeners.console = .number(0) } }

    /// A stream that has begun.
    private func watch(_ node: EmulatorHarness, since: String? = nil) throws -> StreamReader {
      let reader = try StreamReader(node, "/api/v1/events" + (since.map { "?since=\($0)" } ?? ""))
      reader.wait(for: 1, "boot")
      return reader
    }

    /// What the pushes said that a stream told of.
    private func pushes(_ reader: StreamReader) -> [String] {
      reader.events.filter { $0.name == "notification" }.compactMap {
        JSONReader.read(Array($0.data.utf8), maximumDepth: 16)?.member("notification")?.member(
          "payload")?.string("t")
      }
    }

    private func count(_ reader: StreamReader, _ name: String) -> Int {
      reader.events.count { $0.name == name }
    }

    @Test("each event of any node is told once, at whichever node one watches")
    func each() throws {
      let readers = try [watch(nodes.a), watch(nodes.b)]
      for (node, text) in [(nodes.a, "1"), (nodes.b, "2"), (nodes.b, "3"), (nodes.a, "4")] {
        try nodes.push(node, text)
      }
      for reader in readers {
        reader.wait(for: 4, "notification")
        #expect(pushes(reader).sorted() == ["1", "2", "3", "4"])
        #expect(count(reader, "gap") == 0)
        // Ids go up by one order, whoever told.
        let numbers = reader.events.compactMap { $0.id.split(separator: "-").last }.compactMap { Int($0) }
        #expect(numbers == numbers.sorted() && Set(numbers).count == numbers.count)
      }
      // What became of them at each node: the first is kept, then replaced by the second, which is kept.
      for reader in readers { reader.wait(for: 6, "delivery") }
      #expect(readers.map { count($0, "delivery") } == [6, 6])
    }

    @Test("who comes back is told what it has missed of any node, and nothing twice")
    func comesBack() throws {
      var position: String?
      do {
        let reader = try watch(nodes.a)
        try nodes.push(nodes.b, "seen")
        reader.wait(for: 1, "delivery")
        position = reader.events.last?.id
      }
      try nodes.push(nodes.b, "missed")
      try nodes.push(nodes.a, "missed too")
      let again = try watch(nodes.a, since: position)
      again.wait(for: 2, "notification")
      try nodes.push(nodes.b, "new")
      again.wait(for: 3, "notification")
      #expect(pushes(again).sorted() == ["missed", "missed too", "new"] && count(again, "gap") == 0)
    }

    @Test("a way between nodes that is lost is a gap, and what happened meanwhile is told once it is back")
    func lost() throws {
      let reader = try watch(nodes.a)
      try nodes.push(nodes.b, "before")
      reader.wait(for: 1, "notification")
      for connection in nodes.b.emulator.console?.openConnections ?? [] { connection.abort(reset: true) }
      reader.wait(for: 1, "gap")
      #expect(reader.events.last { $0.name == "gap" }?["node"] == "node-b")
      try nodes.push(nodes.b, "meanwhile")
      reader.wait(for: 2, "notification")
      try nodes.push(nodes.b, "after")
      reader.wait(for: 3, "notification")
      #expect(pushes(reader) == ["before", "meanwhile", "after"] && count(reader, "gap") == 1)
    }

    @Test("a node that can't be followed is a gap that names it, once, and one more when it comes")
    func unreachable() throws {
      let peer = try nodes.peerB
      nodes.table.peers["node-b"]?.address = SocketAddress(host: "127.0.0.9", port: 1)
      let reader = try watch(nodes.a)
      reader.wait(for: 1, "gap")
      #expect(reader.events.last?["node"] == "node-b")
      try nodes.push(nodes.a, "mine")
      reader.wait(for: 1, "notification")
      nodes.a.turn(milliseconds: 1200)
      #expect(count(reader, "gap") == 1)
      nodes.table.peers["node-b"] = peer
      reader.wait(for: 2, "gap")
      try nodes.push(nodes.b, "yours")
      reader.wait(for: 2, "notification")
      #expect(pushes(reader) == ["mine", "yours"])
    }

    @Test("a node that goes is a gap, and nothing of it is left")
    func goes() throws {
      let reader = try watch(nodes.a)
      nodes.table.peers["node-b"] = nil
      reader.wait(for: 1, "gap")
      #expect(reader.events.last?["node"] == "node-b")
      nodes.a.turn(until: "nothing is left") { nodes.b.connections("nodes").isEmpty }
    }
  }
}
