import Basics
import Broker
import Zones

/// Keeps the token map in the logs of its zones: a turn's changes go to the logs of the zones that this node leads, and the commit
/// is complete when all of them have it.
///
///     commit ─→ each zone's lease: one record, or a place in the next ─→ confirmed, zone by zone ─→ onCommit
package final class ClusterStore: BrokerStore {
  private let map: ZoneMap
  /// Hands a zone's changes to its lease; answers the turn's number there.
  private let add: (ZoneNumber, [UInt8]) -> UInt64?
  /// The turn in each zone that the commit under way waits for.
  private var waiting: [ZoneNumber: UInt64] = [:]
  private var beganAt = Instant.distantPast
  /// Records that the last commit took, as a count.
  private var recordCount = 0
  /// A record costs the nodes and NATS some 50 µs, whether it tells of one push or of a hundred: with so many nanoseconds
  /// for each, many zones in a commit make it one of many pushes, and a single zone hardly waits.
  private static let restForRecord: Int64 = 50_000
  private static let longestRest: Int64 = 2_000_000
  private let now: () -> Instant

  init(_ map: ZoneMap, now: @escaping () -> Instant, add: @escaping (ZoneNumber, [UInt8]) -> UInt64?) {
    (self.map, self.now, self.add) = (map, now, add)
  }

  package var commitsLater: Bool { true }
  package var onCommit: ((Result<Void, any Error>) -> Void)?

  /// Whether a commit is under way.
  var isCommitting: Bool { !waiting.isEmpty }

  /// How long NATS has let this node wait for the commit that is under way, in nanoseconds.
  var waitingTime: Int64 { isCommitting ? now().nanoseconds(since: beganAt) : 0 }

  package func commit(_ changes: BrokerChanges, of broker: Broker) -> CommitProgress {
    let told = StateChanges(map, broker)
    told.add(changes)
    for (zone, bytes) in told.byZone {
      // One that was left a moment ago tells nothing any more.
      if let turn = add(zone, bytes) { waiting[zone] = turn }
    }
    (beganAt, recordCount) = (now(), waiting.count)
    return waiting.isEmpty ? .complete : .later
  }

  package var restAfterCommit: Int64 {
    let due = min(Int64(recordCount) * Self.restForRecord, Self.longestRest)
    return max(0, due - now().nanoseconds(since: beganAt))
  }

  /// The log of a zone has these turns.
  func confirmed(_ zone: ZoneNumber, _ turns: ClosedRange<UInt64>) {
    guard let turn = waiting[zone], turn <= turns.upperBound else { return }
    waiting[zone] = nil
    if waiting.isEmpty { onCommit?(.success(())) }
  }

  /// Nothing more will be written.
  func fail(_ error: any Error) {
    let wasCommitting = isCommitting
    waiting = [:]
    if wasCommitting { onCommit?(.failure(error)) }
  }

  package func checkpointIfIdle() {}
  package func close() {}
}
