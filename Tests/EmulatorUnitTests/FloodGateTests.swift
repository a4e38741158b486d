import Basics
import Testing

import Emulator

@Suite("The limit of pushes to one device")
struct FloodGateTests {
  private let start = Instant(nanoseconds: 5_000_000_000)

  @Test("counts those of a second, by a clock that nobody sets")
  func second() {
    var gate = FloodGate<Int>(limit: 2)
    let verdicts = [(1, 0), (1, 0), (1, 0), (2, 0), (1, 1_000_000_000), (1, 1_000_000_001)].map {
      gate.isOver($0.0, start.adding(nanoseconds: $0.1))
    }
    #expect(verdicts == [false, false, true, false, true, false])
  }

  @Test("is off unless there is one, and then no clock is asked")
  func off() {
    var gate = FloodGate<Int>(limit: nil)
    let now = { () -> Instant in
      Issue.record("asked")
      return start
    }
    let verdicts = (0..<10).map { _ in gate.isOver(1, now()) }
    #expect(!verdicts.contains(true))
  }
}
