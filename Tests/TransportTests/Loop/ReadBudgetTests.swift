import Testing

@testable import Transport

@Suite("What a connection reads in a turn")
struct ReadBudgetTests {
  private static let hour: Int64 = 3_600_000_000_000

  @Test("is 4 MiB at most, however much time there is")
  func bytes() throws {
    let loop = try #require(EventLoop())
    loop.setReadTimes(turn: Self.hour, quietTurn: Self.hour, least: Self.hour)
    var budget = ReadBudget()
    let answers = [(4 << 20) - 1, 1].map { budget.isSpent($0, on: loop) }
    #expect(answers == [false, true])
  }

  @Test("has the clock asked behind the first of each four reads, and behind one longer than a TLS record")
  func clock() throws {
    let loop = try #require(EventLoop())
    loop.setReadTimes(turn: Self.hour, quietTurn: Self.hour, least: Self.hour, look: 0)
    var looks = 0
    loop.atTurnBegin { looks += 1 }
    var budget = ReadBudget()
    let seen = [1, 1, 1, 1, 1, 16_384, 16_385].map {
      _ = budget.isSpent($0, on: loop)
      return looks
    }
    #expect(seen == [1, 1, 1, 1, 2, 2, 3])
  }

  @Test("is more once 32 turns have brought nobody")
  func quiet() throws {
    let loop = try #require(EventLoop())
    let isQuiet = (1...33).map { _ in
      loop.runTurn(wait: false)
      return loop.hasOnlyBusyReaders
    }
    #expect(isQuiet.firstIndex(of: true) == 31)
    loop.setReadTimes(turn: 5, quietTurn: 80, least: 1)
    #expect(loop.readTimeOfEach == 80)
  }
}
