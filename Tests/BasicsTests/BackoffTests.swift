import Basics
import Testing

@Suite("Waiting before another try")
struct BackoffTests {
  private func backoff(seed: UInt64) -> Backoff {
    Backoff(first: 500_000_000, longest: 60_000_000_000, seed: seed)
  }

  @Test("waits double from half a second to a minute, and half of each is random")
  func growth() {
    var backoff = backoff(seed: 1)
    for (failures, full) in [(1, 500), (2, 1000), (3, 2000), (7, 32_000), (8, 60_000), (1000, 60_000)] {
      let waits = (0..<50).map { _ in backoff.wait(after: failures) / 1_000_000 }
      #expect(waits.allSatisfy { (Int64(full) / 2...Int64(full)).contains($0) }, "\(failures)")
      #expect(Set(waits).count > 10)
    }
  }

  @Test("the same seed gives the same waits")
  func seeded() {
    var (one, other, third) = (backoff(seed: 7), backoff(seed: 7), backoff(seed: 8))
    let waits = (1...9).map { one.wait(after: $0) }
    #expect(waits == (1...9).map { other.wait(after: $0) })
    #expect(waits != (1...9).map { third.wait(after: $0) })
  }
}
