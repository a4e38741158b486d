import Basics
import Broker
import Platform
import PushModel
import TestSupport
import Testing

import Storage

@Suite("Channels in the store")
struct ChannelTablesTests {
  let folder = ScratchFolder()
  private let connections = Connections()
  var path: String { folder.file("store.db") }

  private func key(_ id: UInt8) -> ChannelTable.Key {
    ChannelTable.Key(topic: 0, environment: .sandbox, id: [id, 0, 255])
  }

  private func broadcast(_ text: String, _ fleet: Fleet, _ id: UInt8) {
    Array(text.utf8).withUnsafeBytes { payload in
      var submission = Submission(
        interface: .provider, topic: 0, environment: .sandbox, token: .none,
        payload: payload.span)
      submission.plain.priority = .conserving
      submission.plain.expiration = 1_700_000_900
      fleet.broker.broadcasts.send(submission, to: key(id), storageSeconds: 8 * 3600, now: fleet.now)
    }
  }

  private func connect(
    _ fleet: Fleet, _ phone: TestDevice, as device: Int = 0, enabling: Bool = true
  ) throws -> DeviceSession {
    connections.all.append(phone)
    let udid = try #require(UDID("device-\(device)"))
    let connected = fleet.broker.devices.connect(
      udid, keyFingerprint: [1], environment: .sandbox, offeredBaseToken: nil, link: phone.link,
      now: fleet.now)
    let session = try #require(connected).session
    if enabling {
      fleet.broker.devices.setFilter(session, enabled: [fleet.broker.registry.topics[0].hash], now: fleet.now)
    }
    return session
  }

  @Test("come back whole: ids, policies, the broadcast that each keeps, and who listens")
  func everything() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    for (id, stores) in [(1, true), (2, false), (3, true)] as [(UInt8, Bool)] {
      fleet.broker.channels.create(key(id), storesNewest: stores)
    }
    let phone = TestDevice(connectedAt: fleet.now)
    let session = try connect(fleet, phone)
    #expect(fleet.broker.broadcasts.join(session, key(1), seenUntil: fleet.now, now: fleet.now))
    fleet.now = fleet.now.adding(nanoseconds: 5)
    try fleet.commit()
    fleet.broker.devices.sessionEnded(session, now: fleet.now)
    broadcast("older", fleet, 1)
    broadcast("newest", fleet, 1)
    try fleet.commit()
    try fleet.restart()
    let channels = fleet.broker.channels
    #expect(channels.ids(0, .sandbox) == [[1, 0, 255], [2, 0, 255], [3, 0, 255]])
    #expect([1, 2, 3].map { channels.storesNewest(key($0)) } == [true, false, true])
    let newest = try #require(channels.newest(key(1)))
    #expect(newest.payload == Array("newest".utf8) && newest.priority == .conserving)
    #expect(newest.sentAt == fleet.now && newest.expiresAt == Timestamp(seconds: 1_700_000_900))
    #expect(newest.expiry == 1_700_000_900 && fleet.broker.journal.nextId == newest.id + 1)
    #expect(channels.newest(key(3)) == nil)
    #expect([1, 3].map { fleet.broker.broadcasts.subscribers(key($0)).count } == [1, 0])
    let back = TestDevice(connectedAt: fleet.now)
    _ = try connect(fleet, back)
    #expect(back.broadcasts == ["newest"])
  }

  @Test("are as they were committed last, when the process is killed")
  func killed() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    fleet.broker.channels.create(key(1), storesNewest: true)
    broadcast("committed", fleet, 1)
    try fleet.commit()
    broadcast("not committed", fleet, 1)
    fleet.broker.channels.create(key(2), storesNewest: true)
    let copies = ScratchFolder()
    try copies.copy(from: folder)
    let survivor = try Fleet(path: copies.file("store.db"))
    #expect(survivor.broker.channels.keys == [key(1)])
    #expect(survivor.broker.channels.newest(key(1))?.payload == Array("committed".utf8))
  }

  @Test("are removed with their subscriptions, and their rows are not used again")
  func deleted() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    let session = try connect(fleet, TestDevice(connectedAt: fleet.now))
    for id in 1...2 as ClosedRange<UInt8> {
      fleet.broker.channels.create(key(id), storesNewest: true)
      #expect(fleet.broker.broadcasts.join(session, key(id), seenUntil: nil, now: fleet.now))
    }
    try fleet.commit()
    let isDeleted = fleet.broker.channels.delete(key(1))
    #expect(isDeleted)
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.broker.channels.keys == [key(2)])
    fleet.broker.channels.create(key(3), storesNewest: true)
    #expect(fleet.broker.turn.takeChanges().channels == [3])
    try fleet.restart()
    let file = try closedPath(fleet)
    #expect(try Raw.run(file, "SELECT count(*) FROM subscription") == 1)
  }

  @Test("leave nothing behind when the process ends before all who listened are off them")
  func deletedHalfway() throws {
    let fleet = try Fleet(path: path)
    let count = 10
    try fleet.register(count)
    fleet.broker.channels.create(key(1), storesNewest: true)
    for number in 0..<count {
      let session = try connect(fleet, TestDevice(connectedAt: fleet.now), as: number)
      #expect(fleet.broker.broadcasts.join(session, key(1), seenUntil: nil, now: fleet.now))
    }
    try fleet.commit()
    let isDeleted = fleet.broker.channels.delete(key(1))
    #expect(isDeleted)
    try fleet.commit()
    #expect(fleet.broker.channels.subscriptionCount == count)
    try fleet.restart()
    #expect(fleet.broker.channels.keys.isEmpty && fleet.broker.channels.subscriptionCount == 0)
    let file = try closedPath(fleet)
    #expect(try Raw.run(file, "SELECT count(*) FROM subscription") == 0)
  }

  @Test("stay when every device is forgotten, without those who listened")
  func devicesForgotten() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    fleet.broker.channels.create(key(1), storesNewest: true)
    let session = try connect(fleet, TestDevice(connectedAt: fleet.now))
    #expect(fleet.broker.broadcasts.join(session, key(1), seenUntil: nil, now: fleet.now))
    try fleet.commit()
    fleet.broker.forgetDevices(now: fleet.now)
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.broker.channels.keys == [key(1)])
    #expect(fleet.broker.broadcasts.subscribers(key(1)).count == 0)
  }

  @Test("find room in a store of the version before them, which keeps all it has")
  func olderVersion() throws {
    // As version 1 made it.
    try Raw.run(
      path,
      """
      CREATE TABLE topic (id INTEGER PRIMARY KEY, hash BLOB NOT NULL, name TEXT);
      CREATE TABLE device (
        id INTEGER PRIMARY KEY, udid TEXT NOT NULL, identity INTEGER NOT NULL, key BLOB NOT NULL,
        firstSeenAt INTEGER NOT NULL, lastSeenAt INTEGER NOT NULL);
      CREATE TABLE registration (
        id INTEGER PRIMARY KEY, token BLOB NOT NULL, device INTEGER NOT NULL, topic INTEGER NOT NULL,
        install INTEGER NOT NULL, environment INTEGER NOT NULL, abandoned INTEGER NOT NULL,
        feedback INTEGER NOT NULL, issuedAt INTEGER NOT NULL, goneAt INTEGER NOT NULL);
      CREATE TABLE message_log (segment INTEGER PRIMARY KEY, entries BLOB NOT NULL);
      PRAGMA application_id = 0x61706e73;
      PRAGMA user_version = 1;
      INSERT INTO topic VALUES (0, zeroblob(20), NULL);
      INSERT INTO device VALUES (0, 'device-0', 1, x'01', 5, 6);
      INSERT INTO registration VALUES (0, zeroblob(32), 0, 0, 1, 0, 0, 0, 7, \(Int64.max));
      """)
    let fleet = try Fleet(path: path)
    #expect(fleet.broker.registry.devices.map(\.udid.text) == ["device-0"])
    #expect(fleet.broker.registry.registrationCount == 1 && fleet.broker.channels.keys.isEmpty)
    fleet.broker.channels.create(key(1), storesNewest: true)
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.broker.channels.keys == [key(1)])
    let file = try closedPath(fleet)
    #expect(try Raw.run(file, "PRAGMA user_version") == Schema.version)
  }

  @Test(
    "that were tampered with are noticed",
    arguments: [
      "UPDATE channel SET topic = 77", "UPDATE channel SET environment = 2", "UPDATE channel SET id = -1",
      "UPDATE channel SET priority = 3", "UPDATE channel SET expiry = -1",
      "UPDATE subscription SET device = 9",
      "UPDATE subscription SET channel = 9",
    ])
  func damaged(_ sql: String) throws {
    do {
      let fleet = try Fleet(path: path)
      try fleet.register(1)
      fleet.broker.channels.create(key(1), storesNewest: true)
      let session = try connect(fleet, TestDevice(connectedAt: fleet.now))
      #expect(fleet.broker.broadcasts.join(session, key(1), seenUntil: nil, now: fleet.now))
      broadcast("kept", fleet, 1)
      try fleet.commit()
    }
    try Raw.run(path, sql)
    let error = try #require(throws: StoreError.self) { try Fleet(path: path) }
    #expect(error.code == .damaged)
  }

  /// The file, once the fleet has let go of it.
  private func closedPath(_ fleet: Fleet) throws -> String {
    let other = ScratchFolder()
    fleet.store.close()
    fleet.store = try SQLiteStore(path: other.file("store.db"))
    return path
  }
}

/// The broker does not own connections.
private final class Connections {
  var all: [TestDevice] = []
}
