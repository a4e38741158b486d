import Basics
import Broker
import NATSWire
import TestSupport
import Testing
import Zones

import Cluster

/// What the nodes of an earlier tree wrote into NATS.
@Suite struct LogsOfBeforeTests {
  private static let zoneCount = 4
  private static let now = Timestamp(seconds: 1_798_113_600)
  private let map: ZoneMap
  private let broker: Broker

  init() throws {
    let map = try #require(ZoneMap(count: Self.zoneCount))
    self.map = map
    let zones = ZoneShare(map)
    for zone in 0..<Self.zoneCount { zones.set(zone, isLed: true) }
    broker = Broker(derivation: try SeededDerivation(seed: TreeBefore.tokenSeed), zones: zones)
  }

  /// Without its seal.
  private func opened(_ record: TreeBefore.Record) throws -> [UInt8] {
    let seal = try ClusterSeal(secret: TreeBefore.clusterSecret)
    let place = ClusterSeal.Place(name: record.stream, created: record.created, sequence: record.sequence)
    return try #require(seal.opened(record.bytes, at: place))
  }

  private func difference() throws -> [String] {
    try broker.stateLines(ids: false).symmetricDifference(TreeBefore.lines(single: false)).sorted()
  }

  @Test func theirRecordsAreTheState() throws {
    let replica = StateReplica(broker)
    var readers: [String: ZoneReader] = [:]
    for record in try TreeBefore.records("logs.jsonl") {
      var reader = readers[record.stream] ?? ZoneReader(stream: record.created)
      if let changes = try reader.take(
        JetStreamRecord(sequence: record.sequence, payload: opened(record)))
      {
        try replica.apply(changes, now: Self.now, startOver: { _ in false })
      }
      readers[record.stream] = reader
    }
    #expect(try difference() == [] && replica.misfits == 0)
    #expect(
      readers.mapValues(\.leader) == [
        "APNS_Z0": "node-1", "APNS_Z1": "node-1", "APNS_Z2": "node-2", "APNS_Z3": "node-2",
      ])
  }

  /// Also what this tree writes, read and written again, is byte by byte what theirs was: they read it as well.
  @Test func theirSnapshotsAreTheStateAndOurs() throws {
    let replica = StateReplica(broker)
    var pieces: [String: [UInt8]] = [:]
    var ends: [String: SnapshotEnd] = [:]
    for record in try TreeBefore.records("snapshots.jsonl") {
      let message = try SnapshotMessage(opened(record))
      #expect(try message.encoded == opened(record))
      switch message.body {
      case .piece(let bytes):
        pieces[record.stream, default: []] += bytes
        try replica.apply(bytes, now: Self.now, startOver: { _ in false })
      case .end(let end): ends[record.stream] = end
      }
    }
    #expect(try difference() == [] && replica.misfits == 0)
    #expect(
      ends.mapValues(\.place.leader) == [
        "APNS_S0": "node-1", "APNS_S1": "node-1", "APNS_S2": "node-2", "APNS_S3": "node-2",
      ])
    #expect(ends.mapValues(\.pieces) == ["APNS_S0": 1, "APNS_S1": 0, "APNS_S2": 1, "APNS_S3": 1])
    for zone in map.zones {
      #expect(StateChanges.whole(zone, map, broker) == pieces["APNS_S\(zone)"] ?? [])
    }
  }
}
