import Broker
import PushModel
import TestSupport
import Testing
import Zones

@testable import Cluster

/// A broker whose changes go to logs in memory, which others read.
final class LoggedBroker {
  let broker: Broker
  let map: ZoneMap
  private(set) var logs: [ZoneNumber: [[UInt8]]] = [:]
  var now = Timestamp(seconds: 1_800_000_000)

  init(zones: Int = 4, owned: (Int) -> Bool = { _ in true }) throws {
    map = try #require(ZoneMap(count: zones))
    broker = Broker(derivation: FakeDerivation())
    let map = map
    broker.registry.zoneOf = { UInt16(map.zone(of: $0).number) }
    broker.ownedZones = (0..<zones).map(owned)
    broker.channels.tellsBroadcasts = true
  }

  /// Ends a turn.
  func commit() {
    let told = StateChanges(map, broker)
    _ = broker.storeUnsent()
    told.add(broker.takeChanges())
    for (zone, bytes) in told.byZone { logs[zone, default: []].append(bytes) }
  }

  /// Reads the logs of another, zone by zone.
  func follow(_ other: LoggedBroker) throws {
    let replica = StateReplica(broker)
    for zone in map.zones {
      for record in other.logs[zone] ?? [] { try replica.apply(record, now: now, startOver: { _ in false }) }
    }
    #expect(replica.misfits == 0)
    _ = broker.takeChanges()
  }

  /// All that is known, zone by zone.
  var snapshot: [[UInt8]] {
    let told = StateChanges(map, broker)
    for zone in map.zones { told.addAll(of: zone) }
    return told.byZone.map { $0.bytes }
  }

  /// All that is known, by names, a line each.
  var state: Set<String> {
    let registry = broker.registry
    var lines: Set<String> = []
    for device in registry.devices {
      lines.insert(
        "\(device.udid) \(device.identity) \(device.keyFingerprint) \(device.firstSeenAt) \(device.lastSeenAt)"
      )
    }
    for row in RegistrationID.rows(below: registry.registrationCount) {
      let (entry, message) = (registry[row], broker.keptMessage(row))
      lines.insert(
        "\(entry.token.hex) \(registry[entry.device].udid) \(registry[entry.topic].label) \(entry.install) \(entry.environment)"
          + " \(entry.isAbandoned) \(entry.awaitsFeedback) \(entry.issuedAt) \(entry.goneAt)"
          + " \(message.map { "\($0.head) \(Array($0.payload))" } ?? "-")")
    }
    for key in broker.channels.keys {
      lines.insert(
        "channel \(registry[key.topic].label) \(key.id) \(broker.channels.storesNewest(key) ?? false)"
          + " \(broker.channels.newest(key).map { "\($0)" } ?? "-")")
      for device in broker.subscribers(key) {
        lines.insert(
          "\(registry[device].udid) listens to \(key.id) \(broker.seenUntil(device, key)?.nanoseconds ?? 0)")
      }
    }
    return lines
  }
}

@Suite struct StateReplicaTests {
  private static let topics = ["com.example.app", "com.example.news"].compactMap { Topic($0) }

  /// Someone who does what providers, devices and people do, at random.
  private struct Life {
    var choices: SeededChoices
    var phones: [UDID: Phone] = [:]
    var sent = 0
    /// Ids of channels are not used twice, as Apple makes them up.
    var channels: UInt8 = 0

    mutating func step(_ here: LoggedBroker) throws {
      let (broker, now) = (here.broker, here.now)
      let udid = try #require(UDID("phone-\(choices.whole(upTo: 12))"))
      let topic = StateReplicaTests.topics[Int(choices.whole(upTo: 1))]
      let id = try #require(broker.registry.topic(named: topic))
      let key = ChannelTable.Key(
        topic: id, environment: .sandbox, id: [UInt8(choices.whole(upTo: Int64(channels)))])
      switch choices.whole(upTo: 11) {
      case 0, 1: connect(udid, here)
      case 2:
        if let session = phones.removeValue(forKey: udid)?.session { broker.disconnect(session, now: now) }
      case 3...6: push(udid, id, here)
      case 7: acknowledge(udid, here)
      case 8:
        guard let device = broker.registry.knownDevice(udid) else { return }
        let change: AppChange = [.install, .remove, .reinstall][Int(choices.whole(upTo: 2))]
        _ = broker.change(change, device: device, topic: id, environment: .sandbox, now: now)
      case 9:
        guard choices.unit() < 0.7, channels < 200 else { return _ = broker.channels.delete(key) }
        channels += 1
        let fresh = ChannelTable.Key(topic: id, environment: .sandbox, id: [channels])
        broker.channels.create(fresh, storesNewest: choices.unit() < 0.5)
      case 10:
        if let session = phones[udid]?.session { _ = broker.join(session, key, seenUntil: nil, now: now) }
      default: broadcast(key, here)
      }
    }

    private mutating func connect(_ udid: UDID, _ here: LoggedBroker) {
      let phone = Phone(connectedAt: here.now)
      let connected = here.broker.connect(
        udid, keyFingerprint: [UInt8(choices.whole(upTo: 1))], environment: .sandbox, offeredBaseToken: nil,
        link: phone.link, now: here.now)
      phone.session = connected?.session
      phones[udid] = phone
      guard let session = phone.session else { return }
      for topic in StateReplicaTests.topics {
        _ = here.broker.appToken(session, topic: TopicHash(topic), now: here.now)
      }
      here.broker.setFilter(session, enabled: StateReplicaTests.topics.map { TopicHash($0) }, now: here.now)
    }

    private mutating func push(_ udid: UDID, _ topic: TopicID, _ here: LoggedBroker) {
      guard let device = here.broker.registry.knownDevice(udid),
        let row = here.broker.registry.installed(device, topic, .sandbox)
      else { return }
      sent += 1
      let payload = Array("message \(sent)".utf8)
      here.broker.registry[row].token.withUnsafeBytes { token in
        payload.withUnsafeBytes { payload in
          var submission = Submission(
            interface: .gateway, topic: topic, environment: .sandbox, token: token, payload: payload)
          submission.priority = .conserving
          submission.pushType = .background
          _ = here.broker.submit(submission, now: here.now)
        }
      }
    }

    private func acknowledge(_ udid: UDID, _ here: LoggedBroker) {
      guard let phone = phones[udid], let id = phone.messageIds.last else { return }
      here.broker.acknowledge(phone.link, messageId: id, status: 0, now: here.now)
    }

    private func broadcast(_ key: ChannelTable.Key, _ here: LoggedBroker) {
      let payload = Array("broadcast".utf8)
      payload.withUnsafeBytes { payload in
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        var submission = Submission(
          interface: .provider, topic: key.topic, environment: .sandbox, token: nothing, payload: payload)
        submission.expiration = UInt32(here.now.seconds + 3600)
        here.broker.broadcast(submission, to: key, storageSeconds: 1000, now: here.now)
      }
    }
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func aLogReplayedIsTheStateOfItsOwner(seed: UInt64) throws {
    let owner = try LoggedBroker()
    var life = Life(choices: SeededChoices(seed: seed))
    for _ in 0..<400 {
      try life.step(owner)
      owner.now = owner.now.adding(nanoseconds: 1_000_000)
      if life.choices.unit() < 0.5 { owner.commit() }
    }
    // What is in flight is in the log of each turn; what was acknowledged since is in the last.
    for session in life.phones.values.compactMap(\.session) {
      owner.broker.disconnect(session, now: owner.now)
    }
    owner.commit()
    let reader = try LoggedBroker(owned: { _ in false })
    reader.now = owner.now
    try reader.follow(owner)
    #expect(life.sent > 30 && owner.broker.registry.registrationCount > 10)
    #expect(reader.state.symmetricDifference(owner.state).sorted() == [])
    #expect(reader.broker.allFeedback.count == owner.broker.allFeedback.count)
  }

  @Test func aSnapshotIsTheState() throws {
    let owner = try LoggedBroker()
    var life = Life(choices: SeededChoices(seed: 4))
    for _ in 0..<400 { try life.step(owner) }
    for session in life.phones.values.compactMap(\.session) {
      owner.broker.disconnect(session, now: owner.now)
    }
    let reader = try LoggedBroker()
    let replica = StateReplica(reader.broker)
    for chunk in owner.snapshot { try replica.apply(chunk, now: owner.now, startOver: { _ in false }) }
    #expect(reader.state.symmetricDifference(owner.state).sorted() == [] && owner.state.count > 20)
  }

  @Test func tellsOnlyOfZonesThatAreItsOwn() throws {
    let owner = try LoggedBroker(owned: { $0 == 2 })
    var life = Life(choices: SeededChoices(seed: 9))
    for _ in 0..<200 { try life.step(owner) }
    owner.commit()
    #expect(Set(owner.logs.keys) == [ZoneNumber(2)])
  }

  @Test(arguments: [[], [99], [2, 0], [2, 0, 1, 0xff], [1, 0, 0]] as [[UInt8]])
  func saysWhatIsWrongWithARecord(record: [UInt8]) throws {
    let reader = try LoggedBroker()
    let replica = StateReplica(reader.broker)
    guard !record.isEmpty else { return try replica.apply([], now: reader.now, startOver: { _ in false }) }
    #expect(throws: StateCursor.Damage.self) {
      try replica.apply(record, now: reader.now, startOver: { _ in false })
    }
  }
}
