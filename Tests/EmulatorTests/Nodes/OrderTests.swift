import ClusterRouter
import Console
import ConsoleAnswers
import PushModel
import Testing

import Emulator

extension LiveTests {
  /// What all nodes of a cluster are told to do, at one of them.
  @Suite("Orders of a cluster")
  struct OrderTests {
    @Test("a node without a console ends what a moved clock has ended, step by step, and then rests")
    func withoutConsole() throws {
      let nodes = try TwoNodes()
      let node = nodes.a
      try #require(node.emulator.console == nil)
      // More rows than are looked at in a turn.
      let turn = SliceScheduler.turnBudget / Slice.look * Slice.rowsSwept
      for number in 0...(2 * turn) {
        let udid = try #require(UDID("phone-\(number % 100)"))
        let topic = try #require(Topic("com.example.a\(number / 100)"))
        _ = try #require(node.emulator.change(.install, topic, on: udid, in: .sandbox))
      }
      try nodes.push(node, "old by then")
      let routes = try #require(node.emulator.host.routes)
      let order = OrderedRequest(
        method: "PUT", path: "/api/v1/clock", body: Array(#"{"offset":10000000}"#.utf8))
      #expect(order.carryOut(by: routes, at: node.clock.now()).status == 200)
      var turns = 0
      node.loop.atTurnEnd { turns += 1 }
      node.turn(milliseconds: 300)
      #expect(node.broker.counters.expired == 1)
      // The test wakes it every 10 ms.
      #expect(turns < 100)
    }
  }
}
