import Basics

/// The clock of a saved state: how far it is from the system's, or where it stands still.
package enum SavedClock: Equatable, JSONDocument {
  /// In nanoseconds.
  case offset(Int64)
  case frozen(Timestamp)

  /// Offsets taken, in seconds: they keep the clock between 1970 and 2199, as `PUT /api/v1/clock` does.
  static let offsets: ClosedRange<Double> = -1_700_000_000...5_000_000_000

  /// Farthest that the clock may be set, so that times stay in reach of RFC 3339 and of 64 bits of nanoseconds.
  static let reach = Timestamp(seconds: 0)...Timestamp(seconds: 7_258_118_400)

  private static let times = JSONKind<Timestamp>.time.narrowed("a time from 1970 to 2199") {
    reach.contains($0)
  }

  package static let form: JSONForm<SavedClock> = makeForm(offsets: offsets)
  /// As the nodes of a cluster are told where the clock is. Who has sent it has seen to it that it leads to those years.
  static let order: JSONForm<SavedClock> = makeForm(offsets: -8e9...8e9)

  private static func makeForm(offsets: ClosedRange<Double>) -> JSONForm<SavedClock> {
    JSONForm([
      JSONField(
        "offset", .number(offsets, expected: "a number of seconds that leads to 1970 to 2199"),
        get: { if case .offset(let nanoseconds) = $0 { Double(nanoseconds) / 1e9 } else { nil } },
        set: { $0 = .offset(Int64(($1 * 1e9).rounded())) }),
      // Behind the offset, beside which it counts.
      JSONField(
        "frozenAt", times, get: { if case .frozen(let moment) = $0 { moment } else { nil } },
        set: { $0 = .frozen($1) }),
    ])
  }

  package init(_ clock: any ClockControl) {
    self = clock.frozenAt.map(SavedClock.frozen) ?? .offset(clock.offset)
  }

  package func apply(to clock: any ClockControl) {
    switch self {
    case .offset(let nanoseconds):
      if clock.frozenAt != nil { clock.setFrozen(false) }
      clock.advance(nanoseconds: nanoseconds &- clock.offset)
    case .frozen(let moment):
      clock.set(moment)
      clock.setFrozen(true)
      // Some time has passed between the two.
      clock.set(moment)
    }
  }
}
