import Testing

import Advice

@Suite struct AdviserTests {
  @Test func `Nothing seen, nothing found`() {
    let adviser = Adviser()
    #expect(adviser.findings().isEmpty)
  }
}
