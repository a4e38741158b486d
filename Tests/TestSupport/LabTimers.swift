/// Real time of a lab: timers fire when it is told to pass.
package final class LabTimers {
  private final class Timer {
    let deadline: Int64
    let work: () -> Void

    init(_ deadline: Int64, _ work: @escaping () -> Void) { (self.deadline, self.work) = (deadline, work) }
  }
  private struct Entry { weak var timer: Timer? }

  private var now: Int64 = 0
  private var entries: [Entry] = []

  package init() {}

  /// How many would still fire.
  package var count: Int { entries.count { $0.timer != nil } }

  package func make(_ delay: Int64, _ work: @escaping () -> Void) -> AnyObject {
    let timer = Timer(now + delay, work)
    entries.append(Entry(timer: timer))
    return timer
  }

  package func pass(milliseconds: Int64) {
    now += milliseconds * 1_000_000
    let due = entries.filter { ($0.timer?.deadline ?? .max) <= now }
    entries.removeAll { ($0.timer?.deadline ?? 0) <= now }
    for entry in due { entry.timer?.work() }
  }
}
