import Broker
import Platform
import PushModel
import Storage
import Testing

/// Figures, not checks: set APNS_STORE_PROBE to print them.
@Suite("Store speed", .serialized, .enabled(if: getenv("APNS_STORE_PROBE") != nil))
struct SpeedProbe {
  @Test("committing a thousand messages a turn", arguments: [1_000, 1_000_000])
  func commits(_ registrations: Int) throws {
    let folder = TemporaryFolder()
    let fleet = try Fleet(path: folder.file("store.db"))
    try measure("register \(registrations)", per: registrations) {
      try fleet.register(registrations)
    }
    try measure("commit registrations", per: registrations) { try fleet.commit() }
    let payload = String(repeating: "x", count: 100)
    var generator = SystemRandomNumberGenerator()
    var total: Int64 = 0
    var worst: Int64 = 0
    let turns = 1000
    for _ in 0..<turns {
      for _ in 0..<1000 { fleet.push(Int32.random(in: 0..<Int32(registrations), using: &generator), payload) }
      if registrations == 1000 { for row in 0..<Int32(1000) { fleet.push(row, payload) } }
      let changes = fleet.broker.takeChanges()
      let start = SystemClock.monotonicNanoseconds()
      try fleet.store.commit(changes, of: fleet.broker)
      let took = SystemClock.monotonicNanoseconds() - start
      total += took
      worst = max(worst, took)
    }
    print(
      "commit \(registrations): \(Double(total) / Double(turns) / 1000) ns/row, worst turn \(worst / 1000) us"
    )
    total = 0
    for row in 0..<Int32(1000) {
      fleet.push(row, payload)
      let changes = fleet.broker.takeChanges()
      let start = SystemClock.monotonicNanoseconds()
      try fleet.store.commit(changes, of: fleet.broker)
      total += SystemClock.monotonicNanoseconds() - start
    }
    print("commit of one message: \(total / 1000) ns")
    try measure("load", per: 1) { try fleet.restart() }
  }

  private func measure(_ name: String, per count: Int, _ body: () throws -> Void) throws {
    let start = SystemClock.monotonicNanoseconds()
    try body()
    let took = SystemClock.monotonicNanoseconds() - start
    print("\(name): \(took / 1_000_000) ms, \(took / Int64(count)) ns each")
  }
}
