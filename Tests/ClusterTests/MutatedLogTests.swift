import Broker
import PushModel
import TestSupport
import Testing
import Zones

import Cluster

/// Every number of what a log or a snapshot says, set to the ends of its type: it is refused, or what it says can be used.
@Suite struct MutatedLogTests {
  private let patterns: [[UInt8]] = [
    [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    [0x80, 0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 0, 0],
  ]

  /// All bytes but those at `place` as they were, for each place, width and pattern.
  private func mutants(of bytes: [UInt8]) -> [[UInt8]] {
    var mutants: [[UInt8]] = []
    for width in [4, 8] {
      for place in 0...(bytes.count - width) {
        for pattern in patterns {
          var mutant = bytes
          mutant.replaceSubrange(place..<place + width, with: pattern.prefix(width))
          mutants.append(mutant)
        }
      }
    }
    return mutants
  }

  /// A device with two rows, one of them gone, a message that is kept, and a channel that it listens to.
  private func log() throws -> [UInt8] {
    let leader = try LoggedBroker(zones: 1)
    let (udid, topic) = (try #require(UDID("phone")), try #require(Topic("a.b")))
    try leader.service.connect(udid)
    let token = try #require(try leader.service.appToken(udid, topic))
    let channel = ChannelName(topic: topic, id: [7])
    leader.service.createChannel(channel, storesNewest: true)
    #expect(try leader.service.join(udid, channel, seenUntil: nil))
    try leader.service.disconnect(udid)
    #expect(leader.service.broadcast("{}", to: channel, expiration: 1_900_000_000))
    _ = try leader.service.change(.reinstall, udid, topic)
    #expect(leader.service.submit(PushOrder(token: token.bytes, topic: topic, text: "{}")) == nil)
    return try #require(leader.snapshot.first)
  }

  @Test func aMutatedLogIsRefusedOrUsed() throws {
    var (taken, refused) = (0, 0)
    for bytes in mutants(of: try log()) {
      let reader = try LoggedBroker(zones: 1)
      do {
        try StateReplica(reader.broker).apply(bytes, now: reader.now, startOver: { _ in false })
        taken += 1
      } catch { refused += 1 }
      try use(reader)
    }
    #expect(taken > 100 && refused > 100)
  }

  private func use(_ reader: LoggedBroker) throws {
    let broker = reader.broker
    for (index, device) in broker.registry.devices.enumerated() {
      let id = DeviceID(index)
      for row in broker.registry.installed(on: id) {
        let registration = broker.registry[row]
        _ = broker.apps.change(
          .reinstall, device: id, topic: registration.topic, environment: registration.environment,
          now: reader.now)
      }
      try reader.service.connect(device.udid, key: [9])
      let before = broker.registry.baseToken(id, .sandbox)
      broker.apps.erase(id, now: reader.now)
      #expect(broker.registry.baseToken(id, .sandbox) != before)
      _ = broker.apps.restore(id, now: reader.now)
    }
    broker.deliveries.dropExpired(now: reader.now, budget: .max)
    for key in broker.channels.keys {
      _ = broker.withBroadcast("{}", of: key, expiration: 1_900_000_000) {
        broker.broadcasts.send($0, to: key, storageSeconds: 28_800, now: reader.now)
      }
    }
    reader.commit()
    _ = reader.snapshot
  }

  /// Whoever reads adds to all of them but the first two.
  @Test func aSnapshotThatCountsBeyondAnyLogIsRefused() throws {
    let place = ZonePlace(sequence: 5, epoch: 6, number: 7, leader: "a", successor: nil)
    let end = SnapshotEnd(first: 3, pieces: 4, place: place, stream: "made", startsOver: 8)
    let whole = SnapshotMessage(snapshot: 1, previousEnd: 2, .end(end)).encoded
    #expect(try SnapshotMessage(whole).body == .end(end))
    for pattern in [[UInt8](repeating: 0xff, count: 8), [0x40, 0, 0, 0, 0, 0, 0, 1]] {
      // Behind the head of 18 bytes: first, pieces, sequence, epoch, number.
      for offset in [18, 30, 38, 46] {
        let mutant = Array(whole[..<offset] + pattern + whole[(offset + 8)...])
        #expect(throws: StateCursor.Damage.self) { try SnapshotMessage(mutant) }
      }
      #expect(throws: StateCursor.Damage.self) {
        try SnapshotMessage(Array(whole.dropLast(8) + pattern))
      }
    }
    let most = Array(whole[..<22] + [0xff, 0xff, 0xff, 0xff] + whole[26...])
    guard case .end(let read) = try SnapshotMessage(most).body else { return }
    #expect(read.pieces == 0 || read.first > 0)
  }
}
