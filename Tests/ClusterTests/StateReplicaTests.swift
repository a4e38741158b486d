import Basics
import Broker
import TestSupport
import Testing
import Zones

import Cluster

/// A broker whose changes go to logs in memory, which others read.
final class LoggedBroker {
  let map: ZoneMap
  /// Several of its turns may go into a record.
  let service: SoleBroker
  private(set) var logs: [ZoneNumber: [[UInt8]]] = [:]

  init(zones: Int = 4, led: (Int) -> Bool = { _ in true }) throws {
    let map = try #require(ZoneMap(count: zones))
    self.map = map
    service = SoleBroker(zones: ZoneShare(map), endsTurns: false)
    for zone in 0..<zones where led(zone) { broker.zones.set(zone, isLed: true) }
  }

  var broker: Broker { service.broker }
  var now: Timestamp {
    get { service.now }
    set { service.now = newValue }
  }

  func commit() {
    let told = StateChanges(map, broker)
    _ = broker.deliveries.storeUnsent()
    told.add(broker.turn.takeChanges())
    for (zone, bytes) in told.byZone { logs[zone, default: []].append(bytes) }
  }

  /// Reads the logs of another, zone by zone.
  func follow(_ other: LoggedBroker) throws {
    let replica = StateReplica(broker)
    for zone in map.zones {
      for record in other.logs[zone] ?? [] { try replica.apply(record, now: now, startOver: { _ in false }) }
    }
    #expect(replica.misfits == 0)
    _ = broker.turn.takeChanges()
  }

  /// All that is known, zone by zone.
  var snapshot: [[UInt8]] {
    map.zones.map { StateChanges.whole($0, map, broker) }.filter { !$0.isEmpty }
  }
}

extension StateChanges {
  /// A zone's whole state as it is.
  static func whole(_ zone: ZoneNumber, _ map: ZoneMap, _ broker: Broker) -> [UInt8] {
    var (cursor, bytes) = (ZoneCursor(), [UInt8]())
    while !cursor.isAtEnd { bytes += part(of: zone, map, broker, &cursor, rows: .max / 2) }
    return bytes
  }
}

@Suite struct StateReplicaTests {
  @Test(arguments: 0..<30 as Range<UInt64>)
  func aLogReplayedIsTheStateOfItsOwner(seed: UInt64) throws {
    let leader = try LoggedBroker()
    var life = RandomLife([leader.service], seed: seed)
    for _ in 0..<400 {
      try life.step()
      if life.choices.unit() < 0.5 { leader.commit() }
    }
    // What is in flight is in the log of each turn; what was acknowledged since is in the last.
    try life.disconnectAll()
    leader.commit()
    let reader = try LoggedBroker(led: { _ in false })
    reader.now = leader.now
    try reader.follow(leader)
    #expect(life.sent > 30 && leader.broker.registry.registrationCount > 10)
    #expect(difference(reader, leader) == [])
  }

  private func difference(_ left: LoggedBroker, _ right: LoggedBroker) -> [String] {
    left.broker.stateLines(ids: true).symmetricDifference(right.broker.stateLines(ids: true)).sorted()
  }

  @Test func aSnapshotIsTheState() throws {
    let leader = try LoggedBroker()
    var life = RandomLife([leader.service], seed: 4)
    try life.run(steps: 400)
    try life.disconnectAll()
    let reader = try LoggedBroker()
    let replica = StateReplica(reader.broker)
    for chunk in leader.snapshot { try replica.apply(chunk, now: leader.now, startOver: { _ in false }) }
    #expect(difference(reader, leader) == [] && leader.broker.stateLines(ids: true).count > 20)
  }

  @Test func tellsOnlyOfZonesThatAreItsOwn() throws {
    let leader = try LoggedBroker(led: { $0 == 2 })
    var life = RandomLife([leader.service], seed: 9)
    try life.run(steps: 200)
    leader.commit()
    #expect(Set(leader.logs.keys) == [ZoneNumber(2)])
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

  @Test func saysWhichNewBeginningNobodyHasCounted() throws {
    let reader = try LoggedBroker()
    let record: [UInt8] = [1, 0x40, 0, 0, 0, 0, 0, 0, 1]
    let sentence = "expected a new beginning from 0 to 4611686018427387904 before 9, got 4611686018427387905"
    let damage = #expect(throws: StateCursor.Damage.self) {
      try StateReplica(reader.broker).apply(record, now: reader.now, startOver: { _ in false })
    }
    #expect(damage?.description == sentence)
  }
}
