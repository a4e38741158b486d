import Basics
import TestSupport
import Testing

import Cluster

/// Two nodes are to be one push service: random histories that a single broker and a model agree on, in a cluster whose zones move.
@Suite("A cluster against models")
struct ClusterModelTests {
  @Test("a device gets the newest, once, never an older one after a newer")
  func agreesOnTheLastMessage() throws {
    var (delivered, relayed, moves) = (0, 0 as UInt64, 0)
    for seed in 1...20 as ClosedRange<UInt64> {
      let cluster = try MemoryCluster(seed: seed)
      var model = try StoredNotificationModel(cluster, seed: seed)
      #expect(throws: Never.self, "seed \(seed)") { try model.run(steps: 500) }
      (delivered, relayed, moves) = (
        delivered + model.delivered, relayed + cluster.relayed, moves + cluster.moves
      )
    }
    // Without these nothing would have been tried.
    #expect(delivered > 1000 && relayed > 2000 && moves > 400)
  }

  @Test("peers of a cluster see what peers of a single broker see")
  func isOneService() throws {
    var seen = Seen()
    for seed in 0..<20 as Range<UInt64> {
      #expect(throws: Never.self, "seed \(seed)") { try Self.live(seed, &seen) }
    }
    #expect(seen.isEnough, "\(seen)")
  }

  /// What was tried.
  private struct Seen {
    var delivered = 0, rejected = 0, fedBack = 0, broadcasts = 0, moves = 0, lostAnswers = 0,
      relayed: UInt64 = 0

    var isEnough: Bool {
      delivered > 1000 && rejected > 100 && fedBack > 50 && broadcasts > 500 && moves > 200
        && lostAnswers > 60
        && relayed > 1000
    }
  }

  private static func live(_ seed: UInt64, _ seen: inout Seen) throws {
    let cluster = try MemoryCluster(seed: seed)
    cluster.restlessness = 1
    let alone = SoleBroker(derivation: StampedDerivation(cluster.map))
    var life = RandomLife([alone, cluster], seed: seed)
    for _ in 0..<10 {
      try life.run(steps: 40)
      try compare(cluster.ownedLines(), alone.broker.stateLines(ids: false), "the owners")
      try life.compareHistories()
    }
    try life.disconnectAll()
    try cluster.readAll()
    for member in cluster.members {
      guard member.misfits == 0 else { throw ModelViolation("\(member.misfits) entries had no place") }
      try compare(
        member.broker.stateLines(ids: false), alone.broker.stateLines(ids: false), member.name)
      try compare(
        member.broker.stateLines(ids: true), cluster.members[0].broker.stateLines(ids: true), member.name)
    }
    seen.delivered += life.delivered
    seen.rejected += life.rejected
    seen.fedBack += life.fedBack
    seen.broadcasts += life.broadcasts
    seen.moves += cluster.moves
    seen.lostAnswers += cluster.lostAnswers
    seen.relayed += cluster.relayed
  }

  private static func compare(_ got: Set<String>, _ expected: Set<String>, _ whose: String) throws {
    guard got != expected else { return }
    throw ModelViolation(
      "the state of \(whose): \(got.subtracting(expected).sorted()) instead of \(expected.subtracting(got).sorted())"
    )
  }
}
