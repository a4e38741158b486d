import Zones

/// Everything of every zone is forgotten at once, but each log says only later from where on what it tells is of the time after. Until
/// then what it tells is passed over.
struct StartsOver {
  /// The last one that was carried out here.
  private var last: UInt64 = 0
  /// What each zone's log has told of.
  private var told: [UInt64]

  init(zones: Int = 0) { told = [UInt64](repeating: 0, count: zones) }

  /// Whether this one has to be carried out now; each is once, wherever it is heard of first.
  mutating func begin(_ number: UInt64) -> Bool {
    guard number > last else { return false }
    last = number
    return true
  }

  mutating func told(_ zone: ZoneNumber, _ number: UInt64) {
    told[zone.number] = max(told[zone.number], number)
  }

  /// The last that the log of a zone has told of.
  func last(_ zone: ZoneNumber) -> UInt64 { told[zone.number] }

  /// What the log of a zone has not told of.
  func awaited(_ zone: ZoneNumber) -> UInt64? { told[zone.number] < last ? last : nil }
  func isAwaited(_ zone: ZoneNumber) -> Bool { awaited(zone) != nil }
}
