import CourierWire
import PushModel

/// The emulator's clock as a phone knows it: told over the wire, and carried on by the wall clock's while it runs.
struct PhoneClock {
  private var told: (clock: PhoneOrderCommand.Clock, at: Instant)?

  /// Until the emulator tells it, `world` counts.
  func now(at instant: Instant, world: Timestamp) -> Timestamp {
    guard let (clock, start) = told else { return world }
    let moment = Timestamp(nanoseconds: Int64(clamping: clock.now))
    return clock.isFrozen ? moment : moment.adding(nanoseconds: instant.nanoseconds(since: start))
  }

  var isFrozen: Bool { told?.clock.isFrozen ?? false }

  mutating func set(_ clock: PhoneOrderCommand.Clock, at instant: Instant) { told = (clock, instant) }
}
