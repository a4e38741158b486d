/// Gives long work of the console a bounded part of each turn of the loop, by turns among all that there is: whoever
/// asks for much waits longer, and nobody else waits for it.
final class SliceScheduler {
  /// Most that is done in a turn of the loop, in units of `Slice`: some half a millisecond, as a push may
  /// come behind it.
  static let turnBudget = 500
  /// Most that one piece of work does before the others have their share, in units.
  static let share = 250

  private let makeTimer: (Int64, @escaping () -> Void) -> AnyObject?
  private var queue: [any SlicedWork] = []
  private var left = turnBudget
  private var isRunning = false
  private var timer: AnyObject?
  private var isTimerSet = false

  /// `makeTimer` calls back after so many nanoseconds, unless what it answers is let go before.
  init(makeTimer: @escaping (Int64, @escaping () -> Void) -> AnyObject?) { self.makeTimer = makeTimer }

  /// Takes up work; what this turn has left is spent at once. Urgent work comes first, once.
  func add(_ work: any SlicedWork, isUrgent: Bool = false) {
    if isUrgent { queue.insert(work, at: 0) } else { queue.append(work) }
    run()
  }

  /// The loop has ended a turn: there is a whole budget again.
  func turnEnded() { left = Self.turnBudget }

  private func run() {
    // Work that ends may begin other work.
    guard !isRunning else { return }
    isRunning = true
    while left > 0, !queue.isEmpty {
      let work = queue.removeFirst()
      if giveShare(to: work) == .goesOn { queue.append(work) }
    }
    isRunning = false
    if !queue.isEmpty { runSoon() }
  }

  private func giveShare(to work: any SlicedWork) -> SliceOutcome {
    let share = min(Self.share, left)
    var slice = Slice(share)
    let outcome = work.work(&slice)
    left -= max(Slice.look, share - slice.left)
    return outcome
  }

  /// In the next turn, when sockets have been looked at.
  private func runSoon() {
    guard !isTimerSet else { return }
    isTimerSet = true
    timer = makeTimer(0) { [unowned self] in
      isTimerSet = false
      run()
    }
  }
}
