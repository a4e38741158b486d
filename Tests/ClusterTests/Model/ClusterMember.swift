import Basics
import Broker
import NATSWire
import PushModel
import TestSupport
import Zones

import Cluster

/// One node of a cluster in memory: its broker, its leases, and what it knows of the logs. What `ClusterNode` and `ZoneDriver` do with
/// sockets is done here at once.
final class ClusterMember {
  let name: String
  let broker: Broker
  private let map: ZoneMap
  private let nats: MemoryNATS
  private let replica: StateReplica
  private var leases: [ZoneLease] = []
  /// The zone that is being left: nothing more is decided for it here.
  private(set) var parting: Int?
  private(set) lazy var store = ClusterStore(map, now: { [unowned self] in instant }) { [unowned self] in
    add($1, to: $0.number)
  }
  /// The virtual time.
  var instant = Instant(nanoseconds: 0)
  /// The time of the emulated service.
  var now: () -> Timestamp = { Timestamp(seconds: 0) }
  /// Zones that the turn has changed.
  private var added: Set<Int> = []

  init(_ ordinal: UInt64, _ map: ZoneMap, _ nats: MemoryNATS) {
    (name, self.map, self.nats) = ("node-\(ordinal)", map, nats)
    broker = Broker(derivation: StampedDerivation(map), zones: ZoneShare(map))
    replica = StateReplica(broker)
    broker.history.countIds(from: ClusterMembership.idBase(of: ordinal))
    leases = map.zones.map { _ in ZoneLease(node: name, stream: MemoryNATS.stream, now: instant) }
  }

  // MARK: What is so

  func leads(_ zone: Int) -> Bool { leases[zone].role == .leading && parting != zone }

  /// Who leads a zone by the log, as far as it was read here; nil in a new one, and while it is on its way.
  func leader(of zone: Int) -> String? {
    if leases[zone].role == .leading { return parting == zone ? nil : name }
    return leases[zone].reader.successor ?? leases[zone].reader.leader
  }

  var misfits: Int { replica.misfits }

  // MARK: Turns

  /// Ends a turn: what has changed is in the logs.
  func commit() throws {
    _ = broker.deliveries.storeUnsent()
    let changes = broker.turn.takeChanges()
    guard !changes.isEmpty else { return }
    _ = store.commit(changes, of: broker) { _ in }
    for zone in added { try perform(leases[zone].flush(instant), zone) }
    added = []
    try wait(until: !store.isCommitting)
  }

  private func add(_ changes: [UInt8], to zone: Int) -> UInt64? {
    added.insert(zone)
    return leases[zone].add(changes)
  }

  private func turn(_ zone: Int) throws {
    try perform(leases[zone].tick(instant, mayClaim: false), zone)
    try perform(leases[zone].flush(instant), zone)
  }

  /// Time passes as long as the NATS server's answers are lost.
  private func wait(until isSo: @autoclosure () -> Bool) throws {
    for _ in 0..<1000 {
      guard !isSo() else { return }
      instant = instant.adding(nanoseconds: 100_000_000)
      for zone in leases.indices { try turn(zone) }
    }
    throw ModelViolation("\(name) waits for ever")
  }

  // MARK: The logs

  /// Reads what others have written, so many records.
  func read(_ zone: Int, atMost count: Int = .max) throws {
    guard leases[zone].role == .following else { return }
    var left = count
    while left > 0, case .success(let record) = nats.record(leases[zone].reader.last + 1, of: zone) {
      try perform(leases[zone].see(record, now: instant), zone)
      left -= 1
    }
  }

  func readAll() throws { for zone in leases.indices { try read(zone) } }

  // MARK: Ownership

  /// The zone's devices are sent away, and nothing of it is decided here any more.
  func beginParting(_ zone: Int) throws {
    parting = zone
    broker.devices.endSessions(of: UInt16(zone), reason: "the zone moves", now: now())
    try commit()
  }

  func hand(_ zone: Int, over heir: ClusterMember) throws {
    broker.zones.set(zone, isLed: false)
    leases[zone].handOver(to: heir.name)
    try wait(until: leases[zone].role == .following)
    parting = nil
  }

  func claim(_ zone: Int) throws {
    try read(zone)
    leases[zone].noteCaughtUp()
    try perform(leases[zone].tick(instant), zone)
    try wait(until: leases[zone].role == .leading)
  }

  // MARK: What the leases want

  private func perform(_ actions: [ZoneLease.Action], _ zone: Int) throws {
    for action in actions {
      switch action {
      case .append(let record, let behind):
        let answer = nats.append(record, to: zone, behind: behind)
        try perform(leases[zone].appended(answer, now: instant), zone)
        try perform(leases[zone].flush(instant), zone)
      case .readBack(let sequence):
        try perform(leases[zone].readBack(nats.record(sequence, of: zone), now: instant), zone)
        try perform(leases[zone].flush(instant), zone)
      case .apply(let changes): try replica.apply(changes, now: now(), startOver: { _ in false })
      case .begin: broker.zones.set(zone, isLed: true)
      case .confirm(let turns): store.confirmed(ZoneNumber(zone), turns)
      case .left: broker.zones.set(zone, isLed: false)
      case .drop: throw ModelViolation("\(name) has lost zone \(zone)")
      case .stop(let why), .damaged(let why, _): throw ModelViolation("\(name), zone \(zone): \(why)")
      case .passedOver: break
      }
    }
  }
}

/// Tokens that say their zone.
final class StampedDerivation: TokenDerivation {
  private let base = FakeDerivation()
  private let map: ZoneMap

  init(_ map: ZoneMap) { self.map = map }

  func appToken(
    environment: Environment, udid: UDID, topicHash: TopicHash, install: Int32, context: TokenContext?
  ) -> DeviceToken {
    map.stamped(
      base.appToken(
        environment: environment, udid: udid, topicHash: topicHash, install: install, context: context),
      for: udid)
  }

  func name(ofCustom token: [UInt8]) -> DeviceToken { base.name(ofCustom: token) }

  func baseToken(environment: Environment, udid: UDID, identity: Int32) -> DeviceToken {
    base.baseToken(environment: environment, udid: udid, identity: identity)
  }
}
