import Platform

/// Does on a thread of its own what takes longer than a loop may be kept, such as making keys: one job after the other, each
/// answered on the loop.
///
///     run ─→ waiting ─ its turn: a thread ─→ at work ─ a number in the pipe ─→ `then`, on the loop
///
/// To be used from the loop's thread. What is at work when it is let go comes to its end, and nobody hears of it.
public final class BackgroundWork {
  /// Most jobs at a time unless told otherwise, the one at work included, as a count.
  public static let limit = 32

  private struct Job {
    let work: @Sendable () -> Void
    let withoutThread: () -> Void
    let then: () -> Void
  }

  /// Outlives this object while a thread is at work.
  private final class Bell: Sendable {
    let pipe: NumberPipe

    init?() {
      guard let pipe = NumberPipe() else { return nil }
      self.pipe = pipe
    }

    deinit { pipe.close() }
  }

  /// Unchecked: the thread writes before it rings the bell, the loop reads behind that.
  private final class Place<Value: Sendable>: @unchecked Sendable {
    var value: Value?
  }

  private let loop: EventLoop
  private let limit: Int
  private let bell: Bell
  private var event: LoopEvent?
  private var jobs: [Job] = []

  /// `limit` is the most jobs at a time, the one at work included. nil if the system has no descriptors left.
  public init?(_ loop: EventLoop, limit: Int = limit) {
    guard let bell = Bell() else { return nil }
    (self.loop, self.limit, self.bell) = (loop, limit, bell)
    event = LoopEvent(loop, descriptor: bell.pipe.reader, .read) { [unowned self] in finishFirst() }
    event?.start()
  }

  /// Has `work` done and `then` called with what came of it. False, and neither happens, if too many wait. Late is better than
  /// never: where the system can't start a thread, the loop does it.
  public func run<Value: Sendable>(
    _ work: @escaping @Sendable () -> Value, then: @escaping (Value) -> Void
  ) -> Bool {
    run(work, withoutThread: work, then: then)
  }

  /// The same for work that the loop can't wait for: where the system can't start a thread, the value is `withoutThread`'s.
  package func run<Value: Sendable>(
    _ work: @escaping @Sendable () -> Value, withoutThread: @escaping () -> Value,
    then: @escaping (Value) -> Void
  ) -> Bool {
    guard jobs.count < limit else { return false }
    let place = Place<Value>()
    jobs.append(
      Job(
        work: { place.value = work() },
        withoutThread: { place.value = withoutThread() },
        then: { if let value = place.value { then(value) } }))
    if jobs.count == 1 { startFirst() }
    return true
  }

  private func startFirst() {
    guard let job = jobs.first else { return }
    let (work, bell) = (job.work, bell)
    let thread =
      loop.refusesThreads
      ? nil
      : WorkerThread {
        work()
        bell.pipe.send(0)
      }
    guard thread == nil else { return }
    job.withoutThread()
    bell.pipe.send(0)
  }

  private func finishFirst() {
    guard bell.pipe.receive() != nil, !jobs.isEmpty else { return }
    let job = jobs.removeFirst()
    startFirst()
    job.then()
  }
}
