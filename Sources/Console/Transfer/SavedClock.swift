import PushModel

/// The clock of a saved state: how far it is from the system's, or where it stands still.
enum SavedClock: Equatable, JSONDocument {
  /// In milliseconds.
  case offset(Int64)
  case frozen(Timestamp)

  /// Offsets taken, in seconds: they keep the clock between 1970 and 2199, as `PUT /api/v1/clock` does.
  static let offsets: ClosedRange<Double> = -1_700_000_000...5_000_000_000

  private static let times = JSONKind<Timestamp>.time.narrowed("a time from 1970 to 2199") {
    $0 >= Console.earliestClock && $0 <= Console.latestClock
  }

  static let form = JSONForm<SavedClock>([
    JSONField(
      "offset", .number(offsets, expected: "a number of seconds that leads to 1970 to 2199"),
      get: { if case .offset(let milliseconds) = $0 { Double(milliseconds) / 1000 } else { nil } },
      set: { $0 = .offset(Int64(($1 * 1000).rounded())) }),
    // Behind the offset, beside which it counts.
    JSONField(
      "frozenAt", times, get: { if case .frozen(let moment) = $0 { moment } else { nil } },
      set: { $0 = .frozen($1) }),
  ])

  init(_ clock: any ClockControl) {
    self = clock.frozenAt.map(SavedClock.frozen) ?? .offset(clock.offset / 1_000_000)
  }

  func apply(to clock: any ClockControl) {
    clock.reset()
    switch self {
    case .offset(let milliseconds): clock.advance(nanoseconds: milliseconds * 1_000_000)
    case .frozen(let moment):
      clock.set(moment)
      clock.setFrozen(true)
      // Some time has passed between the two.
      clock.set(moment)
    }
  }
}
