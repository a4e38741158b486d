import PushModel

/// The clock of a saved state: how far it is from the system's, or where it stands still.
enum SavedClock: Equatable {
  /// In milliseconds.
  case offset(Int64)
  case frozen(Timestamp)

  /// Offsets taken, in seconds: they keep the clock between 1970 and 2199, as `PUT /api/v1/clock` does.
  static let offsets: ClosedRange<Double> = -1_700_000_000...5_000_000_000

  init(_ object: JSONObject) throws {
    try object.check(allowing: ["offset", "frozenAt"])
    let offset = try Self.milliseconds(object)
    guard let moment = try object.time("frozenAt") else {
      self = .offset(offset)
      return
    }
    guard moment >= Console.earliestClock, moment <= Console.latestClock else {
      throw ConsoleError.bad(
        object.path("frozenAt"), expected: "a time from 1970 to 2199", got: moment.rfc3339)
    }
    self = .frozen(moment)
  }

  private static func milliseconds(_ object: JSONObject) throws -> Int64 {
    switch object["offset"] {
    case .integer(let seconds)? where offsets.contains(Double(seconds)): return seconds * 1000
    case .number(let seconds)? where offsets.contains(seconds): return Int64((seconds * 1000).rounded())
    case nil: return 0
    case let other?: throw object.mismatch("offset", "a number of seconds that leads to 1970 to 2199", other)
    }
  }

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

  var json: JSONValue {
    switch self {
    case .offset(let milliseconds): ["offset": .number(Double(milliseconds) / 1000)]
    case .frozen(let moment): ["frozenAt": .string(moment.rfc3339)]
    }
  }
}
