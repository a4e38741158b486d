import Basics
import Broker
import Zones

/// What the logs of all zones say of the broker's state, and of new beginnings: everything of every zone is forgotten at once, but each
/// log says only later from where on what it tells is of the time after. Until then what it tells is passed over.
final class ZoneCopies {
  private let broker: Broker
  private let map: ZoneMap
  private let clock: () -> Timestamp
  private let replica: StateReplica
  /// The last new beginning that was carried out here.
  private var last: UInt64 = 0
  /// What each zone's log has told of.
  private var told: [UInt64]

  /// Of a broker that knows nothing yet.
  init(_ broker: Broker, _ map: ZoneMap, clock: @escaping () -> Timestamp) {
    (self.broker, self.map, self.clock) = (broker, map, clock)
    replica = StateReplica(broker)
    told = [UInt64](repeating: 0, count: map.count)
  }

  /// Rows of the zone are changed by this broker from now on, or not any more.
  func lead(_ zone: ZoneNumber, _ isLed: Bool) { broker.zones.set(zone.number, isLed: isLed) }

  /// The log of a zone says what has changed; `startOver` carries a new beginning out, wherever it is heard of first.
  func apply(_ changes: [UInt8], of zone: ZoneNumber, startOver: (UInt64) -> Void) throws {
    try replica.apply(changes, now: clock(), skips: awaited(zone) != nil) { number in
      startOver(number)
      note(zone, number)
      return awaited(zone) != nil
    }
  }

  /// Whether this new beginning has to be carried out now; each is once.
  func begin(_ number: UInt64) -> Bool {
    guard number > last else { return false }
    last = number
    replica.forgetPending()
    return true
  }

  /// The log of a zone has told of a new beginning.
  func note(_ zone: ZoneNumber, _ number: UInt64) { told[zone.number] = max(told[zone.number], number) }

  /// The new beginning that the log of a zone has not told of.
  func awaited(_ zone: ZoneNumber) -> UInt64? { told[zone.number] < last ? last : nil }

  /// What has to be in a log so that it tells of a new beginning.
  static func entry(ofStart number: UInt64) -> [UInt8] {
    var entry = StateWriter()
    entry.write(StateEntry.Kind.startsOver.rawValue)
    entry.write(number, StateEntry.startsOver)
    return entry.bytes
  }

  /// Makes a snapshot of a zone, if its log has told of all that there was.
  func snapshot(
    of zone: ZoneNumber, _ log: LogStream, at place: ZonePlace, of stream: String,
    isSettled: @escaping () -> Bool, done: @escaping (SnapshotWriter.Outcome) -> Void
  ) -> SnapshotWriter? {
    guard awaited(zone) == nil else { return nil }
    return SnapshotWriter(
      zone, broker, map, log, at: place, of: stream, startsOver: told[zone.number], isSettled: isSettled,
      done: done)
  }
}
