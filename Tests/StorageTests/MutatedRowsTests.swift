import Broker
import PushModel
import TestSupport
import Testing

import Storage

/// Every number of a store's rows, set to the ends of its type behind its back: it is not opened, or what it says can be used.
@Suite struct MutatedRowsTests {
  private let numbers: [Int64] = [
    .min, -1, 0, 1, 255, 4096, 4097, Int64(Int32.max) - 1, Int64(Int32.max), Int64(Int32.max) + 1,
    Int64(Int32.min), 1 << 53, 1 << 62, 1 << 62 + 1, .max - 1, .max,
  ]

  /// Columns that are numbers, table by table.
  private let columns = [
    "topic": ["id"], "device": ["id", "identity", "firstSeenAt", "lastSeenAt"],
    "registration": [
      "id", "device", "topic", "install", "environment", "abandoned", "feedback", "issuedAt", "goneAt",
    ],
    "message_log": ["segment"],
    "channel": [
      "id", "topic", "environment", "stores", "broadcast", "priority", "sentAt", "expiresAt", "expiry",
    ],
    "subscription": ["channel", "device", "seenUntil"],
    "pending_forward": ["id", "environment", "receivedAt"],
    "foreign_feedback": ["id", "topic", "environment", "goneAt"], "token_context": ["id"],
    "chosen_token": ["id"],
  ]

  /// A store with one row of each kind.
  private func filled(_ folder: ScratchFolder) throws {
    let fleet = try Fleet(path: folder.file("store.db"))
    let (broker, now) = (fleet.broker, fleet.now)
    try fleet.register(1)
    fleet.push(0, "{}", expiration: UInt32.max, apnsID: APNSID(high: 1, low: 2), collapseId: "c")
    let key = ChannelTable.Key(topic: 0, environment: .sandbox, id: [1])
    broker.channels.create(key, storesNewest: true)
    _ = broker.broadcasts.importSubscription(0, key, seenUntil: now, now: now)
    _ = broker.withBroadcast("{}", of: key, expiration: .max) {
      broker.broadcasts.send($0, to: key, storageSeconds: 28_800, now: now)
    }
    _ = broker.pendingForwards.add(
      frame: [0], topic: Fleet.topic, environment: .sandbox, apnsID: APNSID(high: 1, low: 2),
      receivedAt: now)
    broker.feedback.reportForeignGone(token: [1], topic: 0, environment: .sandbox, goneAt: now)
    _ = broker.apps.adopt(
      try #require(CustomToken(bytes: [5, 6])), device: 0, topic: 0, environment: .production, now: now)
    let phone = TestDevice(connectedAt: now)
    let session = broker.devices.connect(
      try #require(UDID("device-0")), keyFingerprint: [1], environment: .sandbox, offeredBaseToken: nil,
      link: phone.link, now: now)?.session
    let token = broker.apps.appToken(
      try #require(session), topic: broker.registry[0 as TopicID].hash, .starting("Ride"), now: now)
    #expect(token != nil)
    broker.devices.sessionEnded(try #require(session), now: now)
    try fleet.commit()
  }

  @Test func aMutatedRowIsRefusedOrUsed() throws {
    let folder = ScratchFolder()
    try filled(folder)
    var (taken, refused) = (0, 0)
    for (table, columns) in columns {
      #expect(try Raw.run(folder.file("store.db"), "SELECT count(*) FROM \(table)") > 0, "\(table)")
      for (column, number) in columns.flatMap({ column in numbers.map { (column, $0) } }) {
        let copy = ScratchFolder()
        try copy.copy(from: folder)
        // Rows without a check are of an earlier version, and can be anything.
        try Raw.run(
          copy.file("store.db"), "UPDATE OR IGNORE \(table) SET rowCheck = NULL, \(column) = \(number)")
        if try open(copy, "\(table).\(column) = \(number)") { taken += 1 } else { refused += 1 }
      }
    }
    #expect(taken > 100 && refused > 100, "\(taken), \(refused)")
  }

  /// The message log's numbers are in its entries.
  @Test func aMutatedEntryIsRefusedOrUsed() throws {
    let folder = ScratchFolder()
    try filled(folder)
    for offset in 0..<NotificationEntry.headerCount {
      for pattern in ["FFFFFFFFFFFFFFFF", "FFFFFFFFFFFFFF7F", "0000000000000080", "0000000000000000"] {
        let copy = ScratchFolder()
        try copy.copy(from: folder)
        let rest = "substr(entries, \(offset + 9))"
        try Raw.run(
          copy.file("store.db"),
          "UPDATE message_log SET rowCheck = NULL, "
            + "entries = CAST(substr(entries, 1, \(offset)) || X'\(pattern)' || \(rest) AS BLOB)")
        _ = try open(copy, "\(pattern) at \(offset)")
      }
    }
  }

  /// Answers whether it can be opened; what it says is used then.
  private func open(_ folder: ScratchFolder, _ what: String) throws -> Bool {
    do {
      let fleet = try Fleet(path: folder.file("store.db"))
      try use(fleet, what)
      return true
    } catch let error as StoreError {
      #expect(error.code == .damaged && error.sentence.contains("store"), "\(error) for \(what)")
      return false
    }
  }

  private func use(_ fleet: Fleet, _ what: String) throws {
    let (broker, now) = (fleet.broker, fleet.now)
    var phones: [TestDevice] = []
    defer { withExtendedLifetime(phones) {} }
    for (index, device) in broker.registry.devices.enumerated() {
      let id = DeviceID(index)
      let phone = TestDevice(connectedAt: now)
      phones.append(phone)
      let connected = broker.devices.connect(
        device.udid, keyFingerprint: [2], environment: .sandbox, offeredBaseToken: nil, link: phone.link,
        now: now)
      broker.devices.setFilter(
        try #require(connected).session, enabled: broker.registry.topics.map(\.hash), now: now)
      let before = broker.registry.baseToken(id, .sandbox)
      for topic in TopicID.rows(below: broker.registry.topicCount) {
        _ = broker.apps.change(.reinstall, device: id, topic: topic, environment: .sandbox, now: now)
      }
      _ = broker.apps.restore(id, now: now)
      broker.apps.erase(id, now: now)
      #expect(broker.registry.baseToken(id, .sandbox) != before, "\(what)")
    }
    for row in RegistrationID.rows(below: broker.registry.registrationCount) { fleet.push(row, "{}") }
    let key = ChannelTable.Key(topic: 0, environment: .sandbox, id: [2])
    broker.channels.create(key, storesNewest: true)
    for key in broker.channels.keys {
      _ = broker.withBroadcast("{}", of: key, expiration: .max) {
        broker.broadcasts.send($0, to: key, storageSeconds: 28_800, now: now)
      }
    }
    _ = broker.pendingForwards.add(
      frame: [0], topic: Fleet.topic, environment: .sandbox, apnsID: APNSID(high: 1, low: 2),
      receivedAt: now)
    broker.feedback.reportForeignGone(token: [2], topic: 0, environment: .sandbox, goneAt: now)
    broker.deliveries.dropExpired(now: now.adding(nanoseconds: 90 * 86_400_000_000_000), budget: .max)
    try fleet.commit()
  }
}
