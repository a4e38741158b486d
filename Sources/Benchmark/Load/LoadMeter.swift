import Basics
import Platform

/// Who works for one side of a load.
package enum Worker {
  /// All threads of these processes.
  case processes([Int32])
  /// The thread of this process that sends.
  case mainThread
  /// The threads of this process beside that, on which references run.
  case otherThreads

  static func process(_ child: ChildProcess) -> Worker { .processes([child.pid]) }
  package static var thisProcess: Worker { .processes([ProcessStatus.own]) }

  /// What processors have done for it so far; nil where the system does not say.
  func spent() -> ProcessorSpent? {
    switch self {
    case .processes(let pids):
      let each = pids.compactMap(ProcessorSpent.init)
      guard each.count == pids.count else { return nil }
      return each.reduce(ProcessorSpent()) { $0.adding($1) }
    case .mainThread:
      return ProcessorSpent(ProcessStatus.own)?.of(ProcessStatus.own, isWanted: true)
    case .otherThreads:
      return ProcessorSpent(ProcessStatus.own)?.of(ProcessStatus.own, isWanted: false)
    }
  }
}

/// Time that processors have worked for somebody, in nanoseconds.
package struct ProcessorSpent: Equatable {
  /// For all threads, those that have ended too.
  var total: Int64 = 0
  /// For each thread that runs.
  var threads: [Int32: Int64] = [:]

  package init(total: Int64 = 0, threads: [Int32: Int64] = [:]) {
    (self.total, self.threads) = (total, threads)
  }
}

extension ProcessorSpent {
  /// Of a process; nil where the system does not say.
  init?(_ pid: Int32) {
    guard let total = ProcessStatus.processorNanoseconds(pid) else { return nil }
    self.init(total: total, threads: ProcessStatus.threadNanoseconds(pid))
  }

  func adding(_ other: ProcessorSpent) -> ProcessorSpent {
    // No two threads of a system have the same number.
    ProcessorSpent(
      total: total + other.total, threads: threads.merging(other.threads, uniquingKeysWith: +))
  }

  /// Of one thread alone, or of all but that one.
  package func of(_ thread: Int32, isWanted: Bool) -> ProcessorSpent {
    let its = threads[thread] ?? 0
    return isWanted
      ? ProcessorSpent(total: its, threads: [thread: its])
      : ProcessorSpent(total: total - its, threads: threads.filter { $0.key != thread })
  }

  /// What came since `earlier`, as a share of so many nanoseconds.
  package func share(since earlier: ProcessorSpent, of nanoseconds: Int64) -> ProcessorShare {
    let each = threads.map { thread, time in time - (earlier.threads[thread] ?? 0) }
    let all = total - earlier.total
    // What no thread that is left has done, one did that has ended.
    let busiest = max(each.max() ?? 0, all - each.reduce(0, +))
    let whole = Double(max(1, nanoseconds)) / 100
    return ProcessorShare(total: Double(all) / whole, busiest: Double(busiest) / whole)
  }
}

/// Watches how busy both sides are from the moment that a load begins until it is over.
package final class LoadMeter {
  private let server: Worker
  private var generator: Worker
  private var began: Sample?
  /// How busy both sides were between `start` and `stop`; nil before, where the system does not say, and of loads too short for
  /// it.
  package private(set) var load: BenchmarkLoad?

  private struct Sample {
    var time: Instant
    var server: ProcessorSpent
    var generator: ProcessorSpent
  }

  package init(server: Worker, generator: Worker = .thisProcess) {
    (self.server, self.generator) = (server, generator)
  }

  /// The load begins; `generator` if it was not known before.
  func start(generator: Worker? = nil) {
    self.generator = generator ?? self.generator
    began = sample()
  }

  /// The load is over, or more of it than when this was called before.
  func stop() {
    guard let began, let ended = sample() else { return }
    let time = ended.time.nanoseconds(since: began.time)
    guard time >= Self.shortest else { return }
    load = BenchmarkLoad(
      server: ended.server.share(since: began.server, of: time),
      generator: ended.generator.share(since: began.generator, of: time),
      processors: ProcessStatus.processors)
  }

  /// What is shorter says nothing, in nanoseconds: times of processors are counted in steps of 10 ms.
  private static let shortest: Int64 = 200_000_000

  /// Runs a load that is one from its beginning to its end.
  package func measure<Result>(_ load: () throws -> Result) rethrows -> Result {
    start()
    defer { stop() }
    return try load()
  }

  private func sample() -> Sample? {
    guard let server = server.spent(), let generator = generator.spent() else { return nil }
    return Sample(time: SystemClock.now(), server: server, generator: generator)
  }
}
