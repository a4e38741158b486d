import PushModel
import TestSupport
import Testing

import Broker

@Suite("Devices on the broker")
struct DevicesTests {
  let lab = Lab()

  private func connected(
    key: [UInt8] = [1], offering token: DeviceToken? = nil, environment: Environment = .sandbox,
    on phone: TestDevice
  ) throws -> Devices.Connected {
    let udid = try #require(UDID("phone"))
    return try #require(
      lab.broker.devices.connect(
        udid, keyFingerprint: key, environment: environment, offeredBaseToken: token, link: phone.link,
        now: lab.now))
  }

  // MARK: Connecting

  @Test("the newest connection of a device wins; the older one ends and its messages move over")
  func newestWins() throws {
    let row = try lab.row()
    let older = try lab.connect(enabling: [Lab.app])
    lab.push(row, "unacknowledged")
    let newer = try lab.connect(enabling: [Lab.app])
    #expect(older.endReasons.count == 1)
    #expect(newer.texts == ["unacknowledged"])
    lab.push(row, "next")
    #expect(older.texts == ["unacknowledged"])
    #expect(newer.texts == ["unacknowledged", "next"])
    // The end of the older connection, which comes later, takes nothing away from the newer one.
    try lab.disconnect(older)
    #expect(lab.broker.registry.devices[0].isOnline)
    lab.push(row, "last")
    #expect(newer.texts.last == "last")
  }

  @Test("a late acknowledgement on the older connection does not count")
  func lateAcknowledgement() throws {
    let row = try lab.row()
    let older = try lab.connect(enabling: [Lab.app])
    let id = lab.push(row, "message")
    let newer = try lab.connect()
    lab.acknowledge(older, 0)
    #expect(lab.state(id) == .stored)
    try lab.enable([Lab.app], on: newer)
    #expect(newer.texts == ["message"])
  }

  @Test("connecting again on the same connection does not end it")
  func sameConnection() throws {
    let phone = try lab.connect(enabling: [Lab.app])
    _ = try lab.connect(on: phone, enabling: [Lab.app])
    #expect(phone.endReasons.isEmpty)
    lab.push(try lab.row(), "message")
    #expect(phone.texts == ["message"])
  }

  @Test("a device may be in both environments at once")
  func bothEnvironments() throws {
    let sandbox = try lab.connect(enabling: [Lab.app])
    let production = try lab.connect(environment: .production, enabling: [Lab.app])
    #expect(sandbox.endReasons.isEmpty)
    lab.push(try lab.row(), "sandbox")
    lab.push(try lab.row("phone", Lab.app, .production), "production")
    #expect(sandbox.texts == ["sandbox"])
    #expect(production.texts == ["production"])
    try lab.disconnect(sandbox)
    #expect(lab.broker.registry.devices[0].isOnline)
    try lab.disconnect(production)
    #expect(!lab.broker.registry.devices[0].isOnline)
  }

  @Test("the base token stays with the key, and is said only when it is new to the device")
  func baseToken() throws {
    let phone = TestDevice(connectedAt: lab.now)
    let first = try connected(on: phone)
    #expect(!first.tokenWasKnown)
    let again = try connected(offering: first.baseToken, on: phone)
    #expect(again.tokenWasKnown)
    #expect(again.baseToken == first.baseToken)
    let otherKey = try connected(key: [2], offering: first.baseToken, on: phone)
    #expect(!otherKey.tokenWasKnown)
    #expect(otherKey.baseToken != first.baseToken)
    #expect(try connected(environment: .production, on: phone).baseToken != first.baseToken)
  }

  @Test("an ended session claims nothing, least of all for whoever got its number")
  func endedSession() throws {
    let row = try lab.row()
    let phone = try lab.connect()
    let ended = phone.session
    try lab.disconnect(phone)
    let other = try lab.connect("other", enabling: [Lab.app])
    phone.session = ended
    try lab.enable([Lab.app], on: phone)
    lab.push(row, "kept")
    #expect(lab.kept(row) == "kept")
    #expect(lab.slot(row).state == .stored)
    #expect(phone.received.isEmpty)
    #expect(other.received.isEmpty)
  }

  @Test("an ended session can't listen to a channel")
  func endedListener() throws {
    let key = ChannelTable.Key(topic: try lab.topic(), environment: .sandbox, id: [1])
    lab.broker.channels.create(key, storesNewest: false)
    let phone = try lab.connect()
    let session = try #require(phone.session)
    #expect(lab.broker.broadcasts.join(session, key, seenUntil: nil, now: lab.now))
    try lab.disconnect(phone)
    #expect(!lab.broker.broadcasts.join(session, key, seenUntil: nil, now: lab.now))
    #expect(lab.broker.channels.listenerCount(key) == 0)
    _ = lab.submission(to: [], "news", topic: 0, interface: .provider) {
      lab.broker.broadcasts.send($0, to: key, storageSeconds: 0, now: lab.now)
    }
    #expect(phone.broadcasts.isEmpty)
  }

  // MARK: Filters

  @Test("nothing comes before the topic is enabled")
  func beforeFilter() throws {
    let row = try lab.row()
    let phone = try lab.connect()
    let id = lab.push(row, "early")
    #expect(phone.received.isEmpty)
    #expect(lab.state(id) == .stored)
    #expect(try lab.enable([], on: phone) == 0)
    #expect(try lab.enable([Lab.app], on: phone) == 1)
    #expect(phone.texts == ["early"])
  }

  @Test("a filter replaces the one before")
  func filterReplaces() throws {
    let (one, two) = (try lab.row("phone", "a.one"), try lab.row("phone", "a.two"))
    let phone = try lab.connect(enabling: ["a.one"])
    try lab.enable(["a.two"], on: phone)
    lab.push(one, "one")
    lab.push(two, "two")
    #expect(phone.texts == ["two"])
    #expect(try lab.enable(["a.one", "a.two"], on: phone) == 1)
    #expect(phone.texts == ["two", "one"])
  }

  @Test("the same filter again sends nothing again")
  func filterRepeated() throws {
    lab.push(try lab.row(), "message")
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(try lab.enable([Lab.app], on: phone) == 0)
    #expect(try lab.enable([], on: phone) == 0)
    #expect(try lab.enable([Lab.app, Lab.app], on: phone) == 0)
    #expect(phone.texts == ["message"])
  }

  @Test("a filter may name topics that nobody knows, before their token is asked for")
  func filterFirst() throws {
    let phone = try lab.connect(enabling: ["new.app"])
    let session = try #require(phone.session)
    let token = try #require(lab.broker.apps.appToken(session, topic: try lab.hash("new.app"), now: lab.now))
    lab.push(try #require(lab.broker.registry.find(token)), "message")
    #expect(phone.texts == ["message"])
    #expect(phone.received[0].token == token)
    #expect(phone.received[0].topic == (try lab.hash("new.app")))
  }

  // MARK: Tokens

  @Test("asking again gives the same token, each topic another")
  func stableTokens() throws {
    let session = try #require(try lab.connect().session)
    let first = lab.broker.apps.appToken(session, topic: try lab.hash("a.one"), now: lab.now)
    #expect(first != nil)
    #expect(lab.broker.apps.appToken(session, topic: try lab.hash("a.one"), now: lab.now) == first)
    #expect(lab.broker.apps.appToken(session, topic: try lab.hash("a.two"), now: lab.now) != first)
  }

  @Test("a device can't take endless tokens")
  func tokenLimit() throws {
    let session = try #require(try lab.connect().session)
    // Apps that others have, too.
    let others = try (0..<Registry.rowsPerDevice / Registry.topicsPerDevice).map {
      try #require(try lab.connect("other-\($0)").session)
    }
    for number in 0..<Registry.rowsPerDevice {
      let topic = try #require(Topic("t\(number)"))
      _ = lab.broker.apps.appToken(
        others[number / Registry.topicsPerDevice], topic: TopicHash(topic), now: lab.now)
      guard lab.broker.apps.appToken(session, topic: TopicHash(topic), now: lab.now) != nil else {
        Issue.record("refused token \(number)")
        return
      }
    }
    #expect(lab.broker.apps.appToken(session, topic: try lab.hash("one.more"), now: lab.now) == nil)
    #expect(lab.broker.apps.appToken(session, topic: try lab.hash("t7"), now: lab.now) != nil)
  }

  @Test("a colliding token is not given out")
  func collision() throws {
    let session = try #require(try lab.connect().session)
    lab.derivation.collidesFromInstall = 2
    let first = lab.broker.apps.appToken(session, topic: try lab.hash(), now: lab.now)
    #expect(first != nil)
    #expect(
      lab.broker.apps.change(.reinstall, device: 0, topic: 0, environment: .sandbox, now: lab.now) == nil)
    #expect(lab.broker.registry.registrationCount == 1)
  }

  // MARK: Acknowledgements

  @Test("each message is acknowledged by its id, in any order")
  func acknowledgements() throws {
    let rows = try ["a.one", "a.two", "a.three"].map { try lab.row("phone", $0) }
    let phone = try lab.connect(enabling: ["a.one", "a.two", "a.three"])
    let ids = rows.map { lab.push($0, "message") }
    #expect(Set(phone.received.map(\.messageId)).count == 3)
    lab.acknowledge(phone, 2)
    lab.acknowledge(phone, 0)
    #expect(ids.map { lab.state($0) } == [.delivered, .sent, .delivered])
    #expect(rows.map { lab.kept($0) } == [nil, "message", nil])
    #expect(lab.broker.counters.delivered == 2)
    #expect(lab.broker.deliveries.hasUnacknowledged)
    lab.acknowledge(phone, 1)
    #expect(!lab.broker.deliveries.hasUnacknowledged)
  }

  @Test("a second acknowledgement is harmless and known as such")
  func twice() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "message")
    let id = phone.received[0].messageId
    #expect(lab.broker.deliveries.acknowledge(phone.link, messageId: id, status: 0, now: lab.now) == .taken)
    #expect(lab.broker.deliveries.acknowledge(phone.link, messageId: id, status: 0, now: lab.now) == .stray)
    #expect(lab.broker.deliveries.acknowledge(phone.link, messageId: id, status: 2, now: lab.now) == .stray)
    #expect(lab.broker.counters.delivered == 1)
    #expect(lab.kept(row) == nil)
  }

  @Test("another device's acknowledgement is not taken")
  func foreignAcknowledgement() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    let id = lab.push(row, "message")
    let other = try lab.connect("other")
    let outcome = lab.broker.deliveries.acknowledge(
      other.link, messageId: phone.received[0].messageId, status: 0, now: lab.now)
    #expect(outcome == .stray)
    #expect(lab.state(id) == .sent)
  }

  @Test("a status other than 0 keeps the message for the next connection", arguments: [1, 2, 3, 0x80, 0xff])
  func refused(_ status: UInt8) throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    let id = lab.push(row, "message")
    lab.acknowledge(phone, 0, status: status)
    #expect(lab.state(id) == .stored)
    #expect(try lab.enable([Lab.app], on: phone) == 0)
    #expect(lab.broker.counters.delivered == 0)
    try lab.disconnect(phone)
    #expect(try lab.connect(enabling: [Lab.app]).texts == ["message"])
  }

  @Test("a person can end a device's connections")
  func disconnected() throws {
    let sandbox = try lab.connect(enabling: [Lab.app])
    let production = try lab.connect(environment: .production)
    #expect(lab.broker.devices.disconnect(device: 0, reason: "because", now: lab.now))
    #expect(sandbox.endReasons == ["because"])
    #expect(production.endReasons == ["because"])
    #expect(!lab.broker.devices.disconnect(device: 0, reason: "because", now: lab.now))
    lab.push(try lab.row(), "kept")
    #expect(lab.kept(0) == "kept")
  }

  @Test("a reset ends so many connections at a time, and answers where to go on until the last has ended")
  func ended() throws {
    let phones = try (0..<3).map { try lab.connect("phone-\($0)") }
    #expect(lab.broker.devices.endSessions(from: 0, budget: 2, now: lab.now) == 2)
    #expect(phones.map { $0.endReasons.count } == [1, 1, 0])
    #expect(lab.broker.devices.endSessions(from: 2, budget: 1, now: lab.now) == nil)
    #expect(phones.map { $0.endReasons.count } == [1, 1, 1])
    // Who comes then has the places of those.
    for number in 0..<3 { _ = try lab.connect("phone-\(number)") }
    #expect(lab.broker.devices.endSessions(from: 0, budget: 3, now: lab.now) == nil)
  }

  // MARK: Tokens for what nobody knows

  private func hash(_ number: Int) throws -> TopicHash {
    let bytes = withUnsafeBytes(of: number.bigEndian) { Array($0) } + [UInt8](repeating: 7, count: 12)
    return try #require(TopicHash(bytes: bytes))
  }

  @Test(
    "a device that asks for tokens of topics without end gets so many, and leaves nothing behind with the others"
  )
  func inventedTopics() throws {
    let broker = lab.broker
    let session = try #require(try lab.connect("flood").session)
    let got = try (0..<20_000).count {
      broker.apps.appToken(session, topic: try hash($0), now: lab.now) != nil
    }
    #expect(got == 1024)
    #expect(broker.registry.topicCount == got && broker.registry.registrationCount == got)
    // What it has it still gets, and so does everybody else what is theirs.
    #expect(broker.apps.appToken(session, topic: try hash(3), now: lab.now) != nil)
    let other = try #require(try lab.connect("other").session)
    #expect(broker.apps.appToken(other, topic: try hash(50_000), now: lab.now) != nil)
    // A topic that another has counts for neither.
    #expect(broker.apps.appToken(session, topic: try hash(50_000), now: lab.now) != nil)
    #expect(broker.apps.appToken(session, topic: try hash(50_001), now: lab.now) == nil)
  }

  @Test("a device that has all rows it may have leaves neither topics nor contexts behind")
  func inventedContexts() throws {
    let broker = lab.broker
    let session = try #require(try lab.connect("flood").session)
    let topic = try hash(1)
    for number in 0..<4096 + 100 {
      let token = broker.apps.appToken(session, topic: topic, .updating("activity-\(number)"), now: lab.now)
      #expect((token != nil) == (number < 4096))
    }
    #expect(broker.apps.appToken(session, topic: try hash(2), now: lab.now) == nil)
    #expect(broker.registry.topicCount == 1)
    for device in ["phone-1", "phone-2"] {
      let session = try #require(try lab.connect(device).session)
      #expect(broker.apps.appToken(session, topic: topic, .updating("activity-1"), now: lab.now) != nil)
    }
  }
}
