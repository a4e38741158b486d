import Testing

@Suite struct RelaySimulationTests {
  /// A seed that fails is in the message: `RelaySimulation(seed: …, nodes: …)` plays it again.
  @Test func noScheduleDoesAPushTwiceOrLeavesItUnanswered() throws {
    let nodes = [try RelayNode(1), try RelayNode(2)]
    var tried = RelaySimulation.Tried()
    for seed in 0..<600 as Range<UInt64> {
      let simulation = RelaySimulation(seed: seed, nodes: nodes)
      #expect(throws: Never.self, "seed \(seed)") { try simulation.run() }
      tried.add(simulation.tried)
    }
    // Without these nothing would have been tried.
    #expect(tried.isEnough, "\(tried)")
  }
}

extension RelaySimulation.Tried {
  fileprivate mutating func add(_ other: Self) {
    (relayed, unknown, refused) = (relayed + other.relayed, unknown + other.unknown, refused + other.refused)
    (cuts, moves, deaths) = (cuts + other.cuts, moves + other.moves, deaths + other.deaths)
  }

  fileprivate var isEnough: Bool {
    relayed > 1500 && unknown > 150 && refused > 150 && cuts > 150 && moves > 250 && deaths > 50
  }
}
