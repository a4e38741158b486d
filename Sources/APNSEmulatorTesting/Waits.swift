import Emulator
import Platform
import Transport

/// Whoever waits for something to become true of an emulator: asked at the end of each turn, once what happened in it is stored:
/// if it can't be, it did not happen.
package final class Waits {
  private struct Wait {
    /// Whether it has what it waits for, and has said so.
    let look: () -> Bool
    let giveUp: (APNSEmulatorError.Code) -> Void
    let timer: LoopEvent
  }

  private let emulator: Emulator
  private var waits: [Int: Wait] = [:]
  private var lastNumber = 0
  private var isOver = false

  init(_ emulator: Emulator) {
    self.emulator = emulator
    emulator.loop.atTurnEnd { [unowned self] in turnEnded() }
  }

  /// How many wait.
  package var count: Int { waits.count }

  func makeNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Asks `look` at the end of this turn and of those that follow, for so many nanoseconds.
  func begin(
    _ number: Int, nanoseconds: Int64, look: @escaping () -> Bool,
    giveUp: @escaping (APNSEmulatorError.Code) -> Void
  ) {
    guard !isOver else {
      if !look() { giveUp(.stopped) }
      return
    }
    let timer = LoopEvent(timerOn: emulator.loop) { [unowned self] in end(number, .timedOut) }
    waits[number] = Wait(look: look, giveUp: giveUp, timer: timer)
    timer.start(afterNanoseconds: nanoseconds)
  }

  /// Ends one of them without what it waits for.
  func end(_ number: Int, _ why: APNSEmulatorError.Code) { waits.removeValue(forKey: number)?.giveUp(why) }

  /// Ends them all: the emulator is over.
  func endAll() {
    isOver = true
    for number in waits.keys.sorted() { end(number, .stopped) }
  }

  private func turnEnded() {
    guard !waits.isEmpty, emulator.failure == nil, !emulator.isCommitting else { return }
    for number in waits.keys.sorted() where waits[number]?.look() == true { waits[number] = nil }
  }
}

extension Duration {
  /// Whole nanoseconds, saturating.
  var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooMuch) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || isTooMuch ? (seconds < 0 ? .min : .max) : sum
  }
}
