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
