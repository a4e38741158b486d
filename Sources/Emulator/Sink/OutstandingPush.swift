import Basics
import Broker

/// A push over HTTP whose verdict was not there at once. It lives until the verdict is.
///
///     later ─────────────────→ settled ─→ `then`
///     busy ─ go on ─→ submitted again ─┘    ↑
///       └──────────── the emulator ends ────┘
final class OutstandingPush: PushWaiter {
  /// Its id in the history; nil while the sink is too busy for it.
  private(set) var id: UInt64?
  /// Called once with the verdict; with nil if there will be none.
  var then: ((SubmissionResult?) -> Void)?
  private let number: Int
  private let waiters: PushWaiters
  private let submitAgain: () -> PushVerdict

  /// Waits under the ticket's number, which is this push's alone.
  init(
    _ verdict: PushVerdict, _ ticket: PushTicket, _ waiters: PushWaiters,
    submitAgain: @escaping () -> PushVerdict
  ) {
    (number, self.waiters, self.submitAgain) = (ticket.waiter, waiters, submitAgain)
    if case .later(let id) = verdict { self.id = id }
    waiters.add(self, as: number)
  }

  func settled(_ sequence: UInt64, _ result: SubmissionResult, undo: (() -> Void)?) {
    waiters.remove(number)
    tell(result)
  }

  func resume() {
    guard id == nil else { return }
    switch submitAgain() {
    case .now(let result): settled(0, result, undo: nil)
    case .later(let id): self.id = id
    case .busy: break
    }
  }

  func endWithoutVerdicts() {
    // What was never taken is not submitted again.
    if id == nil { waiters.remove(number) }
    tell(nil)
  }

  private func tell(_ result: SubmissionResult?) {
    let tell = then
    then = nil
    tell?(result)
  }
}
