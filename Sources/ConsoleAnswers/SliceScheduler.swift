/// What long work may still do in this turn of the loop, in units of about a microsecond.
///
/// Units are counted rather than time measured: the same work is cut at the same places everywhere, and tests can count
/// it. Measured: 10,000 notifications of the history took 660 ms to write, 1 kB of JSON each.
package struct Slice {
  /// Looking at a record or a row, in units.
  package static let look = 1
  /// Making a value of a document, before its bytes are counted, in units.
  package static let value = 8
  /// A row of the token map made, changed or looked up with its HMAC, in units.
  package static let row = 4
  /// Rows whose message is looked at, and dropped from some, for one unit.
  package static let rowsSwept = 16
  /// Reading a small file and decoding what it says, in units: counted high rather than low.
  package static let file = 100
  /// Bytes of JSON written for one unit.
  package static let bytesWritten = 16
  /// Bytes of a payload searched for one unit.
  package static let bytesSearched = 1024

  package private(set) var left: Int

  package init(_ units: Int) { left = units }

  package var isSpent: Bool { left <= 0 }

  package mutating func spend(_ units: Int) { left -= units }
}

/// Work that is done bit by bit.
package protocol SlicedWork: AnyObject {
  /// Does some of it, for as long as the slice lasts or a bit longer: what can't be divided is finished.
  func work(_ slice: inout Slice) -> SliceOutcome
}

/// Work of many steps.
package final class SlicedSteps: SlicedWork {
  private let step: (inout Slice) -> Bool
  private let then: () -> Void

  /// `step` does a little, and answers whether there is more to do; behind the last one `then` is called.
  package init(_ step: @escaping (inout Slice) -> Bool, then: @escaping () -> Void = {}) {
    (self.step, self.then) = (step, then)
  }

  package func work(_ slice: inout Slice) -> SliceOutcome {
    while !slice.isSpent {
      guard step(&slice) else {
        then()
        return .done
      }
    }
    return .goesOn
  }
}

/// What became of work that got a slice.
package enum SliceOutcome {
  /// There is more to do.
  case goesOn
  /// Nothing can be done now; whoever does it asks for slices again.
  case waits
  case done
}

/// Calls `work` once after so many nanoseconds of real time, unless the object it answers is let go before.
package typealias MakeTimer = (_ nanoseconds: Int64, _ work: @escaping () -> Void) -> AnyObject?

/// Gives long work of the console a bounded part of each turn of the loop, by turns among all that there is: whoever
/// asks for much waits longer, and nobody else waits for it.
package final class SliceScheduler {
  /// Most that is done in a turn of the loop, in units of `Slice`: some half a millisecond, as a push may
  /// come behind it.
  package static let turnBudget = 500
  /// Most that one piece of work does before the others have their share, in units.
  package static let share = 250

  package let makeTimer: MakeTimer
  private var queue: [any SlicedWork] = []
  private var left = turnBudget
  private var isRunning = false
  private var timer: AnyObject?
  private var isTimerSet = false

  package init(makeTimer: @escaping MakeTimer) { self.makeTimer = makeTimer }

  /// Takes up work; what this turn has left is spent at once. Urgent work comes first, once.
  package func add(_ work: any SlicedWork, isUrgent: Bool = false) {
    if isUrgent { queue.insert(work, at: 0) } else { queue.append(work) }
    run()
  }

  /// The loop has ended a turn: there is a whole budget again.
  package func turnEnded() { left = Self.turnBudget }

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
