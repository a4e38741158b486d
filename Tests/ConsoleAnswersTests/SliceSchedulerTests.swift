import ConsoleAnswers
import TestSupport
import Testing

@Suite struct SliceSchedulerTests {
  /// Work of so many units that notes what it was given.
  private final class Chore: SlicedWork {
    private(set) var left: Int
    private(set) var doneInTurn = 0
    private(set) var shares = 0
    var waits = false

    init(_ units: Int) { left = units }

    func work(_ slice: inout Slice) -> SliceOutcome {
      guard !waits else { return .waits }
      shares += 1
      while left > 0, !slice.isSpent {
        slice.spend(1)
        left -= 1
        doneInTurn += 1
      }
      return left > 0 ? .goesOn : .done
    }

    func takeTurn() -> Int {
      defer { doneInTurn = 0 }
      return doneInTurn
    }
  }

  private let timers = LabTimers()
  private func scheduler() -> SliceScheduler { SliceScheduler { [timers] in timers.make($0, $1) } }
  private func turn(_ scheduler: SliceScheduler) {
    scheduler.turnEnded()
    timers.pass(milliseconds: 0)
  }

  @Test("No turn has more than its budget, however many ask")
  func budget() {
    let scheduler = scheduler()
    let chores = (0..<100).map { _ in Chore(1000) }
    for chore in chores { scheduler.add(chore) }
    var turns = 1
    #expect(chores.reduce(0) { $0 + $1.takeTurn() } == SliceScheduler.turnBudget)
    while chores.contains(where: { $0.left > 0 }), turns < 1000 {
      turn(scheduler)
      turns += 1
      #expect(chores.reduce(0) { $0 + $1.takeTurn() } <= SliceScheduler.turnBudget)
    }
    #expect(turns == 100 * 1000 / SliceScheduler.turnBudget)
    #expect(timers.count == 0, "nothing is left to do")
  }

  @Test("Everybody has a share before anybody has a second one")
  func byTurns() {
    let scheduler = scheduler()
    let chores = (0..<20).map { _ in Chore(10 * SliceScheduler.share) }
    for chore in chores { scheduler.add(chore) }
    let shares = { chores.map(\.shares) }
    for _ in 0..<20 {
      turn(scheduler)
      // The first had the first turn to itself, as nobody else was there.
      #expect((shares().dropFirst().max() ?? 0) - (shares().dropFirst().min() ?? 0) <= 1)
    }
  }

  @Test("A little work is done at once, urgent work first")
  func atOnce() {
    let scheduler = scheduler()
    let (long, short, urgent) = (Chore(10_000), Chore(10), Chore(10))
    scheduler.add(short)
    #expect(short.left == 0 && timers.count == 0)
    scheduler.add(long)
    scheduler.add(urgent, isUrgent: true)
    #expect(urgent.left == 10, "the turn has no more to give")
    turn(scheduler)
    #expect(urgent.left == 0 && long.left > 0)
  }

  @Test("Who waits is not asked again until it comes back")
  func waits() {
    let scheduler = scheduler()
    let chore = Chore(10)
    chore.waits = true
    scheduler.add(chore)
    #expect(timers.count == 0)
    chore.waits = false
    scheduler.add(chore)
    #expect(chore.left == 0)
  }
}
