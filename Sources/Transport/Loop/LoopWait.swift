import Basics
import Platform

extension EventLoop {
  /// How often it is looked though nothing happens, in nanoseconds.
  private static let waitStep: Int64 = 50_000_000

  /// Runs turns until something is so: for what has to be waited for before the loop runs for good, or without it, as in a command.
  ///
  /// - Parameters:
  ///   - isSo: asked before the first turn and after each, some twenty times a second at least; what it throws ends the wait.
  ///   - nanoseconds: the longest wait, of which turns that take long are a part.
  /// - Returns: whether it is so; false if the time is over.
  public func turn(until isSo: () throws -> Bool, within nanoseconds: Int64) rethrows -> Bool {
    let deadline = SystemClock.now().adding(nanoseconds: nanoseconds)
    // Ends a turn in which nothing happens.
    let wakeUp = LoopEvent(timerOn: self) {}
    defer { wakeUp.cancel() }
    while try !isSo() {
      guard SystemClock.now() < deadline else { return false }
      wakeUp.start(afterNanoseconds: Self.waitStep)
      runTurn()
    }
    return true
  }
}
