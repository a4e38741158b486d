import Testing

@testable import Emulator

@Suite("Giving memory back to the system")
struct HeapTrimTests {
  private static let much = HeapTrim.worthwhile

  @Test("is due once when much less is held than before")
  func afterFlood() {
    var trim = HeapTrim()
    #expect(!trim.isDue(held: 1000, pushes: 0))
    #expect(!trim.isDue(held: 1000 + Self.much, pushes: 0))
    #expect(!trim.isDue(held: 1001, pushes: 0))
    #expect(trim.isDue(held: 1000, pushes: 0))
    #expect(!trim.isDue(held: 1000, pushes: 0))
    #expect(!trim.isDue(held: 0, pushes: 0))
  }

  @Test("waits for a second with few pushes, and for the lowest level meanwhile")
  func quiet() {
    var trim = HeapTrim()
    #expect(!trim.isDue(held: 4 * Self.much, pushes: 0))
    #expect(!trim.isDue(held: Self.much, pushes: 1000))
    #expect(!trim.isDue(held: 2 * Self.much, pushes: 2000))
    #expect(trim.isDue(held: 2 * Self.much, pushes: 2000 + HeapTrim.quietPushes))
    #expect(!trim.isDue(held: Self.much + 1, pushes: 2000 + HeapTrim.quietPushes))
    #expect(trim.isDue(held: Self.much, pushes: 2000 + HeapTrim.quietPushes))
  }
}
