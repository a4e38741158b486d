import Basics
import Testing

import Transport

@Suite("Memory budget")
struct MemoryBudgetTests {
  private static let second: Int64 = 1_000_000_000

  /// A budget of `limit` KiB whose use is what the candidates hold, in KiB.
  private func evictions(_ limit: Int, _ candidates: [(kibibytes: Int, idleSeconds: Int64)]) -> [Int] {
    let budget = MemoryBudget()
    budget.limit = limit << 10
    budget.change(by: candidates.reduce(0) { $0 + $1.kibibytes } << 10)
    return budget.evictions(
      candidates.map {
        MemoryBudget.Candidate(bytes: $0.kibibytes << 10, idle: $0.idleSeconds * Self.second)
      })
  }

  @Test("nobody gives way below seven eighths of the limit, however idle")
  func comfortable() {
    #expect(evictions(800, [(300, 60), (400, 60)]) == [])
  }

  @Test(
    "between that and the limit only those who are idle and hold much give way, as many as bring comfort back"
  )
  func strained() {
    #expect(evictions(800, [(400, 0), (200, 2), (100, 60), (80, 0)]) == [2])
    #expect(evictions(800, [(400, 0), (250, 2), (130, 0)]) == [1])
    #expect(evictions(800, [(400, 1), (400, 0)]) == [])
    #expect(evictions(800, [(400, 1), (300, 0), (60, 60), (40, 60)]) == [], "quiet devices stay")
    #expect(evictions(800, [(276, 0), (400, 1), (64, 60)]) == [2], "64 KiB are much")
    #expect(evictions(800, [(276, 0), (400, 1), (63, 60)]) == [])
    #expect(evictions(800, [(300, 0), (300, 0), (100, 60), (100, 30)]) == [2], "700 are comfortable")
  }

  @Test("beyond the limit the heaviest give way, and only as many as needed")
  func exceeded() {
    #expect(evictions(800, [(300, 0), (900, 0), (100, 0)]) == [1])
    #expect(evictions(800, [(500, 0), (600, 0), (200, 5)]) == [2, 1])
    #expect(evictions(800, [(200, 3), (200, 9), (500, 0)]) == [1])
    #expect(evictions(800, [(500, 0), (400, 1), (15, 60)]) == [2, 1])
    #expect(evictions(64, [(20, 5), (33, 0), (30, 0)]) == [0], "what is left need not be below 63")
  }

  @Test("idle time counts up to a minute: a small device quiet for hours does not outweigh a hoard")
  func quietDevices() {
    let day: Int64 = 86_400
    #expect(evictions(2000, [(15, day), (1990, 0), (15, day)]) == [1])
    // Among equals the idlest go first.
    #expect(evictions(40, [(15, 20), (15, 50), (15, 3)]) == [1])
  }

  @Test("memory that nobody can give back ends no more than there are")
  func helpless() {
    let budget = MemoryBudget()
    budget.limit = 100
    budget.change(by: 500)
    #expect(budget.needsRelief && budget.isExceeded)
    #expect(budget.evictions([]) == [])
    #expect(budget.evictions([.init(bytes: 0, idle: 60 * Self.second), .init(bytes: 1, idle: 0)]) == [1])
    budget.noteHelpless()
    #expect(!budget.needsRelief && budget.isExceeded, "looking again at once is of no use")
    budget.change(by: 1)
    #expect(budget.needsRelief)
    budget.noteHelpless()
    budget.lookAgain()
    #expect(budget.needsRelief)
    budget.change(by: -401)
    #expect(!budget.needsRelief && !budget.isExceeded)
  }

  @Test("what is only remembered goes beyond seven eighths of the limit, as much as is too much")
  func givesBack() throws {
    let loop = try #require(EventLoop())
    var asked: [Int] = []
    loop.limitMemory(to: 800, givingBack: { asked.append($0) }, onEviction: { _ in })
    loop.memory.change(by: 700)
    loop.watchMemory()
    #expect(asked.isEmpty)
    loop.memory.change(by: 1)
    loop.watchMemory()
    #expect(asked == [1])
  }

  @Test("the look of each second forgets that nobody could give way, and each turn counts for the highest")
  func looks() throws {
    let loop = try #require(EventLoop())
    loop.limitMemory(to: 800, onEviction: { _ in })
    loop.memory.change(by: 1000)
    loop.runTurn(wait: false)
    #expect(!loop.memory.needsRelief, "nobody is there")
    loop.memory.change(by: -400)
    loop.watchMemory()
    loop.memory.change(by: 300)
    #expect(loop.memory.needsRelief)
    loop.memory.change(by: -900)
    #expect(loop.memory.takeHighest() == 1000)
  }

  @Test("the highest of all turns is told once")
  func highest() {
    let budget = MemoryBudget()
    for change in [500, -400, 300] {
      budget.change(by: change)
      budget.noteTurn()
    }
    #expect(budget.takeHighest() == 500)
    #expect(budget.takeHighest() == 400, "as much as is held")
  }

  @Test("without a limit nobody ever gives way")
  func unlimited() {
    let budget = MemoryBudget()
    budget.change(by: 1 << 50)
    #expect(!budget.needsRelief && !budget.isExceeded)
    #expect(budget.evictions([.init(bytes: 1 << 50, idle: 1000 * Self.second)]) == [])
  }

  @Test("a share is counted once, however often it is said")
  func share() {
    let budget = MemoryBudget()
    var share = MemoryShare()
    for bytes in [100, 100, 40, 0, 70] {
      share.set(bytes, in: budget)
      #expect(budget.used == bytes && share.bytes == bytes)
    }
  }

  @Test("who moves bytes is not idle, and idle time begins with the last that moved")
  func idleMark() {
    var mark = IdleMark(now: Instant(nanoseconds: 10))
    #expect(mark.idle(Instant(nanoseconds: 25)) == 15)
    mark.look(moved: 5, now: Instant(nanoseconds: 30))
    #expect(mark.idle(Instant(nanoseconds: 30)) == 0)
    mark.look(moved: 5, now: Instant(nanoseconds: 50))
    #expect(mark.idle(Instant(nanoseconds: 50)) == 20)
    mark.look(moved: 6, now: Instant(nanoseconds: 60))
    #expect(mark.idle(Instant(nanoseconds: 61)) == 1)
  }
}
