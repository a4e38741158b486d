import DeviceDriver
import Testing

@Suite("The gate of those who connect")
struct ConnectGateTests {
  @Test("only so many are let in at once, the others in the order in which they came")
  func order() {
    let gate = ConnectGate(limit: 2)
    var called: [Int] = []
    let entered = (0..<6).filter { number in
      gate.enter {
        called.append(number)
        return true
      }
    }
    #expect(entered == [0, 1] && called.isEmpty)
    gate.leave()
    #expect(called == [2])
    for _ in 0..<3 { gate.leave() }
    #expect(called == [2, 3, 4, 5])
    for _ in 0..<2 { gate.leave() }
    let later = (0..<3).map { _ in gate.enter { true } }
    #expect(later == [true, true, false])
  }

  @Test("who does not want any more takes nobody's place")
  func unwanted() {
    let gate = ConnectGate(limit: 1)
    var called: [Int] = []
    let isIn = gate.enter { true }
    for number in 0..<5 {
      _ = gate.enter {
        called.append(number)
        return number == 4
      }
    }
    gate.leave()
    #expect(isIn && called == [0, 1, 2, 3, 4])
    let isNextIn = gate.enter { true }
    #expect(!isNextIn)
  }

  @Test("thousands who fail as soon as they are called do so one after the other")
  func failing() {
    let gate = ConnectGate(limit: 3)
    var (calls, depth, deepest) = (0, 0, 0)
    for _ in 0..<3 { _ = gate.enter { true } }
    for _ in 0..<20_000 {
      _ = gate.enter {
        (calls, depth) = (calls + 1, depth + 1)
        deepest = max(deepest, depth)
        gate.leave()
        depth -= 1
        return true
      }
    }
    for _ in 0..<3 { gate.leave() }
    #expect(calls == 20_000 && deepest == 1)
    let later = (0..<4).map { _ in gate.enter { true } }
    #expect(later == [true, true, true, false])
  }
}
