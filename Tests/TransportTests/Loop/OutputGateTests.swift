import Testing

import Transport

/// | free | covered | not covered | of one connection's output, in bytes, as commits come and go.
@Suite("What may leave while a commit is under way")
struct OutputGateTests {
  @Test("open, it asks nothing")
  func open() {
    var gate = OutputGate.open
    gate.left(1000)
    #expect(!gate.isClosed && gate.allowed == .max)
  }

  @Test("what was queued before anything had to wait leaves, what comes behind it does not")
  func closed() {
    var gate = OutputGate.open
    gate.close(behind: 10)
    #expect(gate.isClosed && gate.allowed == 10)
    gate.left(4)
    gate.close(behind: 50)
    #expect(gate.allowed == 6, "closed once, it stays where it was")
  }

  @Test("a commit covers what is there; when it is complete that leaves, and no more")
  func covered() {
    var gate = OutputGate.open
    gate.cover(100)
    #expect(gate.isClosed && gate.allowed == 0)
    gate.release(hasMore: true)
    #expect(gate.allowed == 100)
    gate.left(60)
    gate.cover(90)
    #expect(gate.allowed == 40, "what was released is still free")
    gate.left(40)
    gate.release(hasMore: true)
    #expect(gate.allowed == 50)
  }

  @Test("with nothing behind what was covered, it opens, and the end may follow")
  func opens() {
    var gate = OutputGate.open
    gate.cover(100)
    gate.release(hasMore: false)
    #expect(!gate.isClosed)
  }
}
