import Basics
import Broker
import Foundation
import Platform
import PushModel
import Storage
import TestSupport
import Testing

@Suite("The store")
struct SQLiteStoreTests {
  let folder = ScratchFolder()
  var path: String { folder.file("store.db") }

  @Test("makes its folder, and those above it, for this user alone")
  func folderMode() throws {
    let store = try SQLiteStore(path: folder.file("a/b/store.db"))
    #expect(folder.mode(of: "a") == 0o700)
    #expect(folder.mode(of: "a/b") == 0o700)
    #expect(folder.mode(of: "a/b/store.db") == 0o600)
    #expect(folder.mode(of: "a/b/store.db-wal") == 0o600)
    withExtendedLifetime(store) {}
  }

  @Test("is empty when it is new")
  func empty() throws {
    let fleet = try Fleet(path: path)
    #expect(fleet.broker.registry.registrationCount == 0)
    #expect(fleet.broker.registry.devices.isEmpty)
    #expect(fleet.broker.registry.topics.isEmpty)
    #expect(fleet.broker.journal.nextId == 1)
  }

  @Test("names that have made room for others leave the store whole, whatever their places were")
  func replacedTopics() throws {
    let fleet = try Fleet(path: path)
    let registry = fleet.broker.registry
    registry.unusedTopicLimit = 2
    func name(_ text: String) throws -> TopicID {
      try #require(Topic(text).flatMap { registry.topic(named: $0) })
    }
    for number in 0..<5 { _ = try name("early.\(number)") }
    try fleet.commit()
    for number in 0..<4 { _ = try name("later.\(number)") }
    // Its place was another's twice.
    let udid = try #require(UDID("phone"))
    let device = try #require(registry.device(udid, now: fleet.now))
    let topic = try name("early.4")
    let change = fleet.broker.apps.change(
      .install, device: device, topic: topic, environment: .sandbox, now: fleet.now)
    let token = try #require(change)
    let key = ChannelTable.Key(topic: topic, environment: .sandbox, id: [1])
    fleet.broker.channels.create(key, storesNewest: true)
    #expect(topic.round > 0)
    try fleet.commit()
    try fleet.restart()
    let after = fleet.broker.registry
    let row = try #require(after.find(token))
    #expect(after[after[row].topic].name?.name == "early.4" && after.isUsed(after[row].topic))
    #expect(fleet.broker.channels.keys.map { after[$0.topic].label } == ["early.4"])
    #expect(Set(after.topicNames).count == after.topicCount && after.topicCount <= 3)
  }

  @Test("gives back every column of the registry")
  func registry() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(3)
    let hash = try #require(TopicHash(bytes: Array(1...20)))
    let unnamed = try #require(fleet.broker.registry.topic(hashed: hash))
    fleet.now = fleet.now.adding(nanoseconds: 5)
    _ = fleet.broker.apps.change(
      .install, device: 1, topic: unnamed, environment: .production, now: fleet.now)
    _ = fleet.broker.apps.change(.reinstall, device: 2, topic: 0, environment: .sandbox, now: fleet.now)
    try fleet.commit()
    let before = fleet.broker.registry
    try fleet.restart()
    let after = fleet.broker.registry
    #expect(after.topics.map(\.label) == ["com.example.app", "sha1:\(hash.hex)"])
    #expect(after.devices.map(\.udid.text) == ["device-0", "device-1", "device-2"])
    #expect(after.registrationCount == 5)
    for row in RegistrationID.rows(below: 5) { #expect(Row(after[row]) == Row(before[row])) }
    #expect(after.find(before[4 as RegistrationID].token) == 4)
    #expect(after.installed(2, 0, .sandbox) == 4)
    #expect(after.installed(1, 1, .production) == 3)
  }

  @Test("gives back tokens that were chosen, whatever their length, and opens a store of version 6")
  func customTokens() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    try fleet.commit()
    let folder = ScratchFolder()
    try folder.copy(from: self.folder)
    try Raw.run(folder.file("store.db"), "DROP TABLE chosen_token; PRAGMA user_version = 6")
    let older = try Fleet(path: folder.file("store.db"))
    #expect(older.broker.registry.registrationCount == 1 && older.broker.registry.customCount == 0)
    let device = try #require(UDID("device-0").flatMap(older.broker.registry.knownDevice))
    let tokens = try [4, 32, 100].map { try #require(CustomToken(bytes: [UInt8](repeating: 7, count: $0))) }
    for (token, name) in zip(tokens, ["a", "b", "c"]) {
      let topic = try #require(Topic(name).flatMap(older.broker.registry.topic(named:)))
      _ = older.broker.apps.adopt(token, device: device, topic: topic, environment: .sandbox, now: older.now)
    }
    try older.commit()
    try older.restart()
    let registry = older.broker.registry
    #expect(registry.customCount == 3)
    for token in tokens { #expect(registry.find(token).map(registry.text) == token.hex) }
    older.broker.forgetDevices(now: older.now)
    try older.commit()
    try older.restart()
    #expect(older.broker.registry.customCount == 0 && older.broker.registry.find(tokens[0]) == nil)
  }

  @Test("gives back what of their topics tokens are for, and opens a store of version 5")
  func contexts() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    try fleet.commit()
    let folder = ScratchFolder()
    try folder.copy(from: self.folder)
    try Raw.run(folder.file("store.db"), "DROP TABLE token_context; PRAGMA user_version = 5")
    let older = try Fleet(path: folder.file("store.db"))
    #expect(older.broker.registry.registrationCount == 1 && older.broker.registry.context(of: 0) == nil)
    let phone = TestDevice(connectedAt: older.now)
    let udid = try #require(UDID("device-0"))
    let session = try #require(
      older.broker.devices.connect(
        udid, keyFingerprint: [1], environment: .sandbox, offeredBaseToken: nil,
        link: phone.link, now: older.now)
    ).session
    let hash = TopicHash(try #require(Topic(Fleet.topic)))
    let names = [TokenContext.starting("Game"), .updating("activity-1"), nil, .starting("Ride")]
    let tokens = names.map { older.broker.apps.appToken(session, topic: hash, $0, now: older.now) }
    #expect(Set(tokens).count == 4 && !tokens.contains(nil))
    try older.commit()
    try older.restart()
    let registry = older.broker.registry
    for (name, token) in zip(names, tokens) {
      let row = try #require(token.flatMap(registry.find))
      #expect(registry.context(of: row) == name)
    }
    #expect(registry.registrationCount == 4)
  }

  @Test("a context that is none, or of no row, makes the store a damaged one")
  func damagedContexts() throws {
    for values in ["0, 'what:is this'", "7, 'start:Game'"] {
      let fleet = try Fleet(path: folder.file("\(values.prefix(1)).db"))
      try fleet.register(1)
      try fleet.commit()
      let copy = ScratchFolder()
      try copy.copy(from: folder)
      let file = copy.file("\(values.prefix(1)).db")
      try Raw.run(file, "INSERT INTO token_context VALUES (\(values), NULL)")
      #expect { try Fleet(path: file) } throws: { ($0 as? StoreError)?.code == .damaged }
    }
  }

  @Test("gives back a device's identity, key and times")
  func device() throws {
    let fleet = try Fleet(path: path)
    let phone = TestDevice(connectedAt: fleet.now)
    let udid = try #require(UDID("device-0"))
    _ = fleet.broker.devices.connect(
      udid, keyFingerprint: [1, 2, 3], environment: .sandbox, offeredBaseToken: nil, link: phone.link,
      now: fleet.now)
    fleet.broker.apps.erase(0, now: fleet.now.adding(nanoseconds: 7))
    let next = try #require(
      fleet.broker.devices.connect(
        udid, keyFingerprint: [4, 5], environment: .sandbox, offeredBaseToken: nil, link: phone.link,
        now: fleet.now.adding(nanoseconds: 9)))
    try fleet.commit()
    try fleet.restart()
    let device = fleet.broker.registry.devices[0]
    #expect(device.identity == 2)
    #expect(device.keyFingerprint == [4, 5])
    #expect(device.firstSeenAt == fleet.now)
    #expect(device.lastSeenAt == fleet.now.adding(nanoseconds: 9))
    #expect(fleet.broker.registry.baseToken(0, .sandbox) == next.baseToken)
    #expect(!device.isOnline)
  }

  @Test("gives back a token that is gone, with its time and its place in the feedback queue")
  func gone() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    let phone = TestDevice(connectedAt: fleet.now)
    let udid = try #require(UDID("device-0"))
    _ = fleet.broker.devices.connect(
      udid, keyFingerprint: [1], environment: .sandbox, offeredBaseToken: nil, link: phone.link,
      now: fleet.now)
    _ = fleet.broker.apps.change(.remove, device: 0, topic: 0, environment: .sandbox, now: fleet.now)
    fleet.now = fleet.now.adding(nanoseconds: 3)
    fleet.push(0, "tried")
    try fleet.commit()
    try fleet.restart()
    let row = fleet.broker.registry[0 as RegistrationID]
    #expect(row.goneAt == fleet.now)
    #expect(!row.isActive)
    #expect(fleet.broker.feedback.rows(topics: [0], environment: .sandbox) == [0])
    fleet.broker.feedback.clear([0])
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.broker.feedback.rows.isEmpty)
    #expect(fleet.broker.registry[0 as RegistrationID].goneAt == fleet.now)
  }

  @Test("gives back a kept message whole")
  func message() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(2)
    fleet.push(0, "first")
    let id = fleet.push(
      1, "second", expiration: 1_700_000_900, apnsID: APNSID(high: 0x1122, low: 0x3344))
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.kept(0) == "first")
    let message = try #require(fleet.broker.deliveries.stored(1))
    #expect(fleet.kept(1) == "second")
    #expect(message.head.id == id)
    #expect(message.head.apnsId == (UInt64(0x1122).bigEndian, UInt64(0x3344).bigEndian))
    #expect(message.head.expiry == 1_700_000_900)
    #expect(message.head.expiresAt == Timestamp(seconds: 1_700_000_900))
    #expect(message.head.receivedAt == fleet.now)
    #expect(message.head.priority == .immediate)
    #expect(message.head.pushType == nil && message.content.collapseText == nil)
    #expect(fleet.broker.deliveries.stored(0)?.head.expiry == .max)
    // Ids go on, so that the wire ids of kept and new messages differ.
    #expect(fleet.push(0, "third") > id)
  }

  @Test("gives back push type and collapse id as they were said, or were not")
  func saidByTheProvider() throws {
    let fleet = try Fleet(path: path)
    let longest = String(repeating: "é", count: 32)
    let rows: [(PushType?, String)] = [
      (nil, ""), (.alert, ""), (nil, "score"), (.background, longest), (.controls, "c"),
    ]
    try fleet.register(rows.count)
    let id = APNSID(high: 1, low: 2)
    for (row, said) in rows.enumerated() {
      fleet.push(
        RegistrationID(row), "text \(row)", apnsID: row % 2 == 0 ? id : nil, type: said.0,
        saysPriority: row % 2 == 0, collapseId: said.1)
    }
    try fleet.commit()
    try fleet.restart()
    for (row, said) in rows.enumerated() {
      let message = try #require(fleet.broker.deliveries.stored(RegistrationID(row)))
      #expect(message.head.pushType == said.0 && message.content.collapseText ?? "" == said.1)
      #expect(fleet.kept(RegistrationID(row)) == "text \(row)")
      #expect((message.head.apnsId != (0, 0)) == (row % 2 == 0))
      #expect(message.head.priority == .immediate && message.head.saysPriority == (row % 2 == 0))
    }
    // Written again from memory.
    fleet.push(0, "newer", collapseId: "x")
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.kept(0) == "newer" && fleet.broker.deliveries.stored(0)?.collapseText == "x")
  }

  @Test("reads the entries of version 4, which say alert where nothing was said")
  func olderEntries() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(1)
    try fleet.commit()
    let folder = ScratchFolder()
    try folder.copy(from: self.folder)
    // Registration 0, 2 bytes, id 7, received, expires; expiry 9, priority 10, push type 0, kept, 0; "Hi".
    let entry =
      "00000000 02000000 0700000000000000 0000000000000000 ffffffffffffff7f 09000000 0a 00 01 00 4869"
      .filter { $0 != " " }
    try Raw.run(
      folder.file("store.db"),
      "INSERT INTO message_log VALUES (1, x'\(entry)', NULL); DROP TABLE token_context; PRAGMA user_version = 4"
    )
    let older = try Fleet(path: folder.file("store.db"))
    let message = try #require(older.broker.deliveries.stored(0))
    #expect(older.kept(0) == "Hi" && message.head.pushType == .alert && message.content.collapseText == nil)
    #expect(message.head.id == 7 && message.head.expiry == 9)
    try older.commit()
    try older.restart()
    #expect(older.kept(0) == "Hi")
  }

  @Test("holds what was committed and nothing else, when the process is killed")
  func killed() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(2)
    fleet.push(0, "committed")
    try fleet.commit()
    fleet.push(0, "not committed")
    fleet.push(1, "not committed")
    _ = fleet.broker.turn.takeChanges()
    // What a killed process leaves: the two files as they are, without anything that closing would do.
    let copies = ScratchFolder()
    try copies.copy(from: folder)
    let survivor = try Fleet(path: copies.file("store.db"))
    #expect(survivor.kept(0) == "committed")
    #expect(survivor.kept(1) == nil)
  }

  @Test("starts over when the broker forgot its devices, topics apart")
  func startsOver() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(3)
    fleet.push(1, "message")
    try fleet.commit()
    fleet.broker.forgetDevices(now: fleet.now)
    try fleet.register(1, from: 7)
    fleet.push(0, "after")
    try fleet.commit()
    try fleet.restart()
    #expect(fleet.broker.registry.devices.map(\.udid.text) == ["device-7"])
    #expect(fleet.broker.registry.topics.map(\.label) == [Fleet.topic])
    #expect(fleet.kept(0) == "after" && fleet.broker.registry.registrationCount == 1)
  }

  @Test("writes the log back when there is nothing else to do")
  func checkpoint() throws {
    let fleet = try Fleet(path: path)
    try fleet.register(500)
    try fleet.commit()
    let before = folder.size(of: "store.db")
    try fleet.store.checkpointIfIdle()
    #expect(folder.size(of: "store.db") == before)
    try fleet.store.checkpointIfIdle()
    #expect(folder.size(of: "store.db") > before)
    try fleet.restart()
    #expect(fleet.broker.registry.registrationCount == 500)
  }
}

/// What a test compares of a registration.
private struct Row: Equatable {
  var token: DeviceToken
  var numbers: [Int64]
  var isAbandoned: Bool

  init(_ row: Registration) {
    token = row.token
    numbers = [
      Int64(row.device.number), Int64(row.topic.number), Int64(row.install), Int64(row.environment.rawValue),
      row.issuedAt.nanoseconds, row.goneAt.nanoseconds,
    ]
    isAbandoned = row.isAbandoned
  }
}
