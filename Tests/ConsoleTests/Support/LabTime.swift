import Basics
import Console

/// The emulator's clock of a lab: it stands still, as the system's does here, until either is moved.
final class LabClock: ClockControl {
  static let start = Timestamp(seconds: 1_767_323_045)
  private(set) var moment = start
  private(set) var frozenAt: Timestamp?
  private(set) var system = start
  /// What the system's time goes on by before it is looked at for `set`, in nanoseconds.
  var delay: Int64 = 0
  var offset: Int64 { moment.nanoseconds - system.nanoseconds }

  func now() -> Timestamp { moment }

  func pass(seconds: Int64) { moment = moment.adding(nanoseconds: seconds * 1_000_000_000) }
  func advance(nanoseconds: Int64) { move(to: moment.adding(nanoseconds: nanoseconds)) }
  func set(_ moment: Timestamp) {
    system = system.adding(nanoseconds: delay)
    move(to: moment)
  }
  private func move(to moment: Timestamp) {
    self.moment = moment
    if frozenAt != nil { frozenAt = moment }
  }
  func setFrozen(_ frozen: Bool) { frozenAt = frozen ? moment : nil }
  func reset() { (moment, frozenAt) = (system, nil) }

  /// The system's time goes on, and this one with it.
  func runSystem(nanoseconds: Int64) {
    system = system.adding(nanoseconds: nanoseconds)
    if frozenAt == nil { moment = moment.adding(nanoseconds: nanoseconds) }
  }
}

/// Real time of a lab: timers fire when it is told to pass.
final class LabTimers {
  private final class Timer {
    let deadline: Int64
    let work: () -> Void

    init(_ deadline: Int64, _ work: @escaping () -> Void) { (self.deadline, self.work) = (deadline, work) }
  }
  private struct Entry { weak var timer: Timer? }

  private var now: Int64 = 0
  private var entries: [Entry] = []

  /// How many would still fire.
  var count: Int { entries.count { $0.timer != nil } }

  func make(_ delay: Int64, _ work: @escaping () -> Void) -> AnyObject {
    let timer = Timer(now + delay, work)
    entries.append(Entry(timer: timer))
    return timer
  }

  func pass(milliseconds: Int64) {
    now += milliseconds * 1_000_000
    let due = entries.filter { ($0.timer?.deadline ?? .max) <= now }
    entries.removeAll { ($0.timer?.deadline ?? 0) <= now }
    for entry in due { entry.timer?.work() }
  }
}
