import Platform
import Transport

/// Runs an actor's jobs on the thread that turns a loop, between what the loop's sockets and timers have to say.
///
///     jobs of any thread ─enqueue→ waiting ─a byte in a pipe wakes the loop→ run, one after the other
///
/// When the loop has ended the thread stays until the actor is let go, for jobs that come late.
///
/// Unchecked because the compiler can't see threads: `waiting`, `isLoopOver` and `isReleased` are touched only while
/// `condition` is locked; `event` and `thread` are set before any other thread knows this object.
final class LoopExecutor: SerialExecutor, @unchecked Sendable {
  private let condition = ThreadCondition()
  private var waiting: [UnownedJob] = []
  private var isLoopOver = false
  private var isReleased = false
  private let wake: NumberPipe
  private var event: LoopEvent?
  private let thread = ThreadIdentity()

  /// For the loop of this thread. `onRelease` is called when nobody has the actor any more and the loop still runs.
  init(_ loop: EventLoop, onRelease: @escaping () -> Void) throws {
    guard let wake = NumberPipe() else { throw SocketError.last("open a pipe for", "an emulator's loop") }
    self.wake = wake
    let event = LoopEvent(loop, descriptor: wake.reader, .read) { [unowned self] in
      _ = wake.receive()
      if runWaiting() { onRelease() }
    }
    event.start()
    self.event = event
  }

  deinit { wake.close() }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    notify { waiting.append(job) }
  }

  func checkIsolated() {
    precondition(thread.isCurrent, "not on the emulator's thread")
  }

  /// The actor is gone: there will be no more jobs.
  func release() { notify { isReleased = true } }

  /// Changes something while locked and has the thread see it. One number is in the pipe while anything waits, so that
  /// nobody ever waits for room in it.
  private func notify(_ change: () -> Void) {
    condition.lock()
    let isFirst = waiting.isEmpty && !isReleased
    change()
    if isLoopOver { condition.signal() } else if isFirst { wake.send(0) }
    condition.unlock()
  }

  /// Runs what waits; answers whether the actor was let go.
  private func runWaiting() -> Bool {
    condition.lock()
    let (jobs, isReleased) = (waiting, isReleased)
    waiting = []
    condition.unlock()
    for job in jobs { unsafe job.runSynchronously(on: asUnownedSerialExecutor()) }
    return isReleased
  }

  /// The loop has ended: serves late jobs until the actor is let go.
  func serveTheRest() {
    condition.lock()
    isLoopOver = true
    condition.unlock()
    event = nil
    while !runWaiting() {
      condition.lock()
      while waiting.isEmpty, !isReleased { condition.wait() }
      condition.unlock()
    }
  }
}
