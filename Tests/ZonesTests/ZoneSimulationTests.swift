import Testing

import Zones

@Suite struct ZoneSimulationTests {
  /// A seed that fails is in the message: `ZoneSimulation(seed: …, nodes: …)` plays it again.
  @Test(arguments: [2, 3])
  func noScheduleLosesOrDoublesAChange(nodes: Int) throws {
    var (reigns, retries, confirmed, handovers) = (0, 0, 0, 0)
    for seed in 0..<60 as Range<UInt64> {
      var simulation = ZoneSimulation(seed: seed, nodes: nodes)
      #expect(throws: Never.self, "seed \(seed)") { try simulation.run() }
      (reigns, retries) = (reigns + simulation.reigns, retries + simulation.retries)
      confirmed += simulation.confirmedCount
      handovers += simulation.handovers
    }
    // Without these nothing would have been tried.
    #expect(reigns > 80 && retries > 200 && confirmed > 10_000 && handovers > 40)
  }
}
