import Testing

import Emulator

@Suite("Giving memory back to the system")
struct HeapTrimTests {
  private static let much = HeapTrim.worthwhile
  private static let few = HeapTrim.quietPushes

  /// What is said second after second.
  private func answers(_ seconds: [(held: Int, pushes: UInt64)]) -> [Bool] {
    var trim = HeapTrim()
    return seconds.map { trim.isDue(held: $0.held, atMost: 0, pushes: $0.pushes) }
  }

  @Test("is due also when the flood came and went within a second")
  func shortFlood() {
    var trim = HeapTrim()
    let answers = [Self.much, 0, 0].map { trim.isDue(held: 0, atMost: $0, pushes: 0) }
    #expect(answers == [true, false, false])
  }

  @Test("is due once when much less is held than before")
  func afterFlood() {
    let held = [1000, 1000 + Self.much, 1001, 1000, 1000, 0]
    #expect(answers(held.map { ($0, 0) }) == [false, false, false, true, false, false])
  }

  @Test("waits for a second with few pushes, and begins anew then")
  func quiet() {
    let (much, few) = (Self.much, Self.few)
    let seconds: [(Int, UInt64)] = [
      (4 * much, 0), (much, 1000), (2 * much, 2000), (2 * much, 2000 + few), (much + 1, 2000 + few),
      (much, 2000 + few),
    ]
    #expect(answers(seconds) == [false, false, false, true, false, true])
  }
}
