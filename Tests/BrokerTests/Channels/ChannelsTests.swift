import Basics
import PushModel
import TestSupport
import Testing

@testable import Broker

@Suite("Channels")
struct ChannelsTests {
  let lab = Lab()

  private func key(_ id: UInt8 = 1, _ topic: TopicID = 0, _ environment: Environment = .sandbox)
    -> ChannelTable.Key
  {
    ChannelTable.Key(topic: topic, environment: environment, id: [id])
  }

  private func create(_ key: ChannelTable.Key, stores: Bool = true) throws {
    _ = try lab.topic()
    let isNew = lab.broker.channels.create(key, storesNewest: stores)
    #expect(isNew)
  }

  private func broadcast(_ text: String, _ key: ChannelTable.Key) {
    lab.submission(to: [], text, topic: key.topic, expiration: lab.time(in: 3600)) {
      _ = lab.broker.broadcasts.send($0, to: key, storageSeconds: 8 * 3600, now: lab.now)
    }
    lab.pass(seconds: 1)
  }

  private func join(_ phone: TestDevice, _ key: ChannelTable.Key, seen: Timestamp? = nil) throws -> Bool {
    lab.broker.broadcasts.join(try #require(phone.session), key, seenUntil: seen, now: lab.now)
  }

  @Test("are counted for each app and environment")
  func count() throws {
    for (id, topic, environment) in [
      (1, 0, Environment.sandbox), (2, 0, .sandbox), (3, 0, .production), (4, 1, .sandbox),
    ] as [(UInt8, TopicID, Environment)] {
      lab.broker.channels.create(key(id, topic, environment), storesNewest: true)
    }
    let counts = { [lab] in
      [
        lab.broker.channels.count(0, .sandbox), lab.broker.channels.count(0, .production),
        lab.broker.channels.count(1, .sandbox), lab.broker.channels.count(1, .production),
      ]
    }
    #expect(counts() == [2, 1, 1, 0] && lab.broker.channels.count == 4)
    let isNew = lab.broker.channels.create(key(1), storesNewest: false)
    #expect(!isNew, "there is one with this id")
    let deleted = (0..<2).map { _ in lab.broker.channels.delete(key(1)) }
    #expect(deleted == [true, false])
    #expect(counts() == [1, 1, 1, 0])
    #expect(lab.broker.channels.ids(0, .sandbox) == [[2]])
    #expect(lab.broker.channels.keys == [key(2), key(3, 0, .production), key(4, 1)])
    let hasMore = [2, 2].map { lab.broker.channels.deleteSome($0) }
    #expect(hasMore == [true, false] && counts() == [0, 0, 0, 0])
  }

  @Test("are counted as quickly among fifty thousand of another app as alone")
  func countIsQuick() throws {
    func seconds(_ body: () -> Void) -> Double {
      let clock = ContinuousClock()
      return (0..<3).map { _ in Double(clock.measure(body).components.attoseconds) }.min() ?? 0
    }
    let table = ChannelTable()
    table.create(key(), storesNewest: true)
    let count = { for _ in 0..<1000 { _ = table.count(0, .sandbox) } }
    let alone = seconds(count)
    for number in 0..<50_000 {
      table.create(
        .init(topic: 1, environment: .sandbox, id: [UInt8(number & 255), UInt8(number >> 8)]),
        storesNewest: true)
    }
    // Looking at each channel would take some ten thousand times as long.
    #expect(seconds(count) < alone * 100)
  }

  @Test("and what each keeps are named for the store when they change, and only then")
  func changes() throws {
    try create(key())
    try create(key(2), stores: false)
    var changes = lab.broker.turn.takeChanges()
    #expect(changes.channels == [1, 2] && !changes.isEmpty)
    #expect(lab.broker.turn.takeChanges().isEmpty)
    broadcast("kept", key())
    broadcast("not kept", key(2))
    changes = lab.broker.turn.takeChanges()
    #expect(changes.channels == [1])
    #expect(lab.broker.channels.stored(1)?.newest?.payload == Array("kept".utf8))
    _ = lab.broker.channels.delete(key(2))
    changes = lab.broker.turn.takeChanges()
    #expect(changes.channels == [2] && changes.deletedChannels == [key(2)])
    #expect(lab.broker.channels.stored(2) == nil)
    lab.broker.channels.dropBroadcasts()
    #expect(lab.broker.turn.takeChanges().channels == [1] && lab.broker.channels.newest(key()) == nil)
  }

  @Test(
    "a subscription is named for the store when it begins, when its device has gone further, and when it ends"
  )
  func subscriptionChanges() throws {
    try create(key())
    let phone = try lab.connect()
    let device = try lab.device()
    #expect(try join(phone, key()))
    let subscription = StoredSubscription(device: device, channel: 1)
    #expect(lab.broker.turn.takeChanges().subscriptions == [subscription])
    #expect(lab.broker.channels.stored(subscription) == Timestamp(nanoseconds: .min))
    #expect(try join(phone, key()))
    #expect(lab.broker.turn.takeChanges().subscriptions.isEmpty)
    let sentAt = lab.now
    broadcast("first", key())
    #expect(
      lab.broker.turn.takeChanges().subscriptions.isEmpty, "one write a connection, not one a broadcast")
    try lab.disconnect(phone)
    #expect(lab.broker.turn.takeChanges().subscriptions == [subscription])
    #expect(lab.broker.channels.stored(subscription) == sentAt)
    let again = try lab.connect()
    lab.broker.broadcasts.leave(try #require(again.session), key())
    #expect(lab.broker.turn.takeChanges().subscriptions == [subscription])
    #expect(lab.broker.channels.stored(subscription) == nil)
    #expect(lab.broker.broadcasts.subscribers(key()).count == 0)
  }

  @Test("a device that comes back gets what a channel kept meanwhile, once, without joining again")
  func comesBack() throws {
    try create(key())
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(try join(phone, key()))
    broadcast("while here", key())
    try lab.disconnect(phone)
    #expect(
      lab.broker.channels.listenerCount(key()) == 0 && lab.broker.broadcasts.subscribers(key()).count == 1)
    broadcast("older", key())
    broadcast("while offline", key())
    let back = try lab.connect(enabling: [Lab.app])
    #expect(back.broadcasts == ["while offline"])
    #expect(try join(back, key(), seen: .init(nanoseconds: 1)))
    #expect(back.broadcasts == ["while offline"], "not twice on one connection")
    broadcast("live", key())
    #expect(back.broadcasts == ["while offline", "live"])
    try lab.disconnect(back)
    #expect(try lab.connect(enabling: [Lab.app]).broadcasts.isEmpty)
  }

  @Test("what a device says of how far it got counts more than what is remembered")
  func deviceKnowsBetter() throws {
    try create(key())
    let phone = try lab.connect()
    #expect(try join(phone, key()))
    broadcast("lost on its way", key())
    try lab.disconnect(phone)
    let back = try lab.connect(enabling: [Lab.app])
    #expect(back.broadcasts.isEmpty)
    #expect(try join(back, key()))
    #expect(back.broadcasts == ["lost on its way"])
  }

  @Test("a device that wants other topics, or is of the other environment, is not sent what it missed")
  func otherTopics() throws {
    try create(key())
    let phone = try lab.connect()
    #expect(try join(phone, key()))
    try lab.disconnect(phone)
    broadcast("missed", key())
    #expect(try lab.connect(enabling: ["a.two"]).broadcasts.isEmpty)
    #expect(try lab.connect(environment: .production, enabling: [Lab.app]).broadcasts.isEmpty)
    #expect(try lab.connect(enabling: [Lab.app]).broadcasts == ["missed"])
  }

  @Test(
    "a broadcast whose time is over is not for those who come late", arguments: [(3599, ["old"]), (3600, [])])
  func expired(_ seconds: Int, _ expected: [String]) throws {
    try create(key())
    let phone = try lab.connect()
    #expect(try join(phone, key()))
    try lab.disconnect(phone)
    broadcast("old", key())
    // Sending it took one.
    lab.pass(seconds: Int64(seconds - 1))
    #expect(try lab.connect(enabling: [Lab.app]).broadcasts == expected)
  }

  @Test("a broadcast whose time is over as it comes goes to those who are there, and what was kept stays")
  func expiredAtOnce() throws {
    try create(key())
    let phone = try lab.connect()
    #expect(try join(phone, key()))
    broadcast("kept", key())
    lab.submission(to: [], "now", topic: 0, expiration: lab.time(in: 0)) {
      _ = lab.broker.broadcasts.send($0, to: key(), storageSeconds: 8 * 3600, now: lab.now)
    }
    #expect(phone.broadcasts == ["kept", "now"])
    #expect(lab.broker.channels.newest(key())?.payload == Array("kept".utf8))
  }

  @Test(
    "what a saved state or another node says that a channel keeps goes to who listens until its time is over",
    arguments: [(0, []), (1, ["imported", "replicated"])])
  func told(_ nanoseconds: Int, _ expected: [String]) throws {
    try create(key())
    let phone = try lab.connect()
    #expect(try join(phone, key()))
    let end = lab.now.adding(nanoseconds: Int64(nanoseconds))
    lab.submission(to: [], "imported", topic: 0) {
      lab.broker.broadcasts.importBroadcast(
        $0, to: key(), sentAt: lab.now.adding(nanoseconds: -1), expiresAt: end, now: lab.now)
    }
    let newest = ChannelTable.Broadcast(
      id: 41, payload: Array("replicated".utf8), priority: .immediate, sentAt: lab.now, expiresAt: end,
      expiry: 7)
    let told = StoredChannel(row: 1, key: key(), storesNewest: true, newest: newest)
    #expect(lab.broker.broadcasts.admit(told, because: .replicated, now: lab.now))
    #expect(phone.broadcasts == expected)
    #expect(lab.state(1) == .stored, "what is imported has an entry, which says that the channel keeps it")
  }

  @Test("a broadcast of which two nodes tell comes once")
  func toldTwice() throws {
    try create(key())
    let phone = try lab.connect()
    #expect(try join(phone, key()))
    let broadcast = ChannelTable.Broadcast(
      id: 41, payload: Array("once".utf8), priority: .immediate, sentAt: lab.now, expiresAt: .never, expiry: 7
    )
    for _ in 0..<2 { lab.broker.broadcasts.replicateBroadcast(broadcast, to: key()) }
    #expect(phone.broadcasts == ["once"])
  }

  @Test("what another node says of a device that listens counts until that node says that it listens no more")
  func toldOfListener() throws {
    try create(key())
    _ = try lab.device()
    let (phone, nobody) = (try #require(UDID("phone")), try #require(UDID("nobody")))
    func tell(_ udid: UDID, _ key: ChannelTable.Key, _ seenUntil: Timestamp?) -> Bool {
      lab.broker.broadcasts.replicateSubscription(udid, key, seenUntil: seenUntil)
    }
    try create(key(3))
    #expect(tell(phone, key(), lab.now) && tell(phone, key(3), lab.now))
    #expect(!tell(nobody, key(), lab.now) && !tell(phone, key(2), lab.now))
    #expect(lab.broker.broadcasts.subscribers(key()) == [0])
    #expect(lab.broker.broadcasts.seenUntil(0, key()) == lab.now)
    #expect(tell(phone, key(), nil))
    #expect(lab.broker.broadcasts.subscribers(key()) == [])
    #expect(lab.broker.broadcasts.seenUntil(0, key()) == nil && lab.broker.channels.subscriptionCount == 1)
    #expect(lab.broker.broadcasts.seenUntil(0, key(3)) == lab.now, "it listens to another")
    #expect(tell(phone, key(3), nil))
    #expect(lab.broker.channels.subscriptionCount == 0 && lab.broker.channels.subscriptions.isEmpty)
  }

  @Test("a saved state says how far a device got in milliseconds: less is no news")
  func importedSubscription() throws {
    try create(key())
    let device = try lab.device()
    func got(_ nanoseconds: Int64) -> Timestamp { lab.now.adding(nanoseconds: nanoseconds) }
    let broadcasts = lab.broker.broadcasts
    for (told, known) in [(1_999_999, 1_999_999), (1_000_000, 1_999_999), (2_000_000, 2_000_000), (0, 0)]
      as [(Int64, Int64)]
    {
      #expect(broadcasts.importSubscription(device, key(), seenUntil: got(told), now: lab.now))
      #expect(broadcasts.seenUntil(device, key()) == got(known))
    }
  }

  @Test("who removes the app, erases the phone or is forgotten listens no more", arguments: 0..<4)
  func noLongerThere(_ way: Int) throws {
    let row = try lab.row()
    try create(key())
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(try join(phone, key()))
    if way == 1 { try lab.disconnect(phone) }
    let device = lab.broker.registry[row].device
    switch way {
    case 0, 1:
      _ = lab.broker.apps.change(.remove, device: device, topic: 0, environment: .sandbox, now: lab.now)
    case 2: lab.broker.apps.erase(device, now: lab.now)
    default: lab.broker.forgetDevices(now: lab.now)
    }
    broadcast("into the void", key())
    #expect(phone.broadcasts.isEmpty)
    #expect(
      lab.broker.broadcasts.subscribers(key()).count == 0 && lab.broker.channels.listenerCount(key()) == 0)
    #expect(try lab.connect(enabling: [Lab.app]).broadcasts.isEmpty)
    let subscriptions = lab.broker.turn.takeChanges().subscriptions
    #expect(subscriptions.allSatisfy { lab.broker.channels.stored($0) == nil })
  }

  @Test("a deleted channel makes room for others on the devices that listened to it")
  func deleted() throws {
    func numbered(_ number: Int) -> ChannelTable.Key {
      ChannelTable.Key(topic: 0, environment: .sandbox, id: [UInt8(number >> 8), UInt8(number & 0xff)])
    }
    let phone = try lab.connect()
    for number in 0...1000 { try create(numbered(number)) }
    for number in 0..<1000 { #expect(try join(phone, numbered(number))) }
    #expect(try !join(phone, numbered(1000)), "it listens to as many as it may")
    let isDeleted = lab.broker.channels.delete(numbered(0))
    #expect(isDeleted)
    #expect(try !join(phone, numbered(0)))
    #expect(try join(phone, numbered(1000)))
    try lab.disconnect(phone)
    #expect(try lab.connect(enabling: [Lab.app]).broadcasts.isEmpty)
  }

  @Test("what is put back works as if it had never been away")
  func restored() throws {
    _ = (try lab.topic(), try lab.device())
    let newest = ChannelTable.Broadcast(
      id: 41, payload: Array("back".utf8), priority: .immediate, sentAt: lab.now, expiresAt: .never, expiry: 7
    )
    #expect(
      lab.broker.broadcasts.admit(
        StoredChannel(row: 5, key: key(), storesNewest: true, newest: newest), because: .stored, now: .never))
    #expect(
      lab.broker.broadcasts.restoreSubscription(
        .init(device: 0, channel: 5), seenUntil: .init(nanoseconds: 1)))
    _ = lab.broker.turn.takeChanges()
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(phone.broadcasts == ["back"] && lab.broker.journal.nextId == 42)
    try create(key(2))
    #expect(lab.broker.turn.takeChanges().channels == [6])
  }

  @Test("rows that fit to nothing are not put back")
  func restoredNowhere() throws {
    _ = (try lab.topic(), try lab.device())
    let broker = lab.broker
    func channel(_ row: Int64, _ key: ChannelTable.Key) -> Bool {
      let told = StoredChannel(row: row, key: key, storesNewest: true, newest: nil)
      return broker.broadcasts.admit(told, because: .stored, now: .never)
    }
    #expect(channel(1, key()))
    #expect(!channel(1, key(2)) && !channel(2, key()) && !channel(0, key(3)) && !channel(.max, key(4)))
    #expect(!channel(3, key(5, 1)) && !channel(3, key(5, 99)))
    let subscribe = {
      broker.broadcasts.restoreSubscription(.init(device: $0, channel: $1), seenUntil: lab.now)
    }
    #expect(subscribe(0, 1) && !subscribe(0, 1) && !subscribe(0, 9) && !subscribe(1, 1) && !subscribe(-1, 1))
    // Rows are counted up to 1 << 62.
    #expect(!channel(1 << 62 + 1, key(6)) && channel(1 << 62, key(6)))
  }

  @Test("there are 100,000 channels in all")
  func limit() {
    let table = ChannelTable()
    func create(_ number: Int) -> Bool {
      let id = [UInt8(number >> 16), UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
      return table.create(.init(topic: 0, environment: .sandbox, id: id), storesNewest: false)
    }
    #expect((0...100_000).count { create($0) } == 100_000 && table.count == 100_000)
    _ = table.deleteSome(1)
    #expect(create(100_001))
  }

  @Test("devices have 4,000,000 subscriptions in all, each of which makes room when it ends")
  func subscriptionLimit() throws {
    let channels = lab.broker.channels
    #expect(channels.subscriptionLimit == 4_000_000)
    channels.subscriptionLimit = 2
    for id in 1...3 as ClosedRange<UInt8> { try create(key(id)) }
    let phone = try lab.connect()
    #expect(try (1...3).map { try join(phone, key($0)) } == [true, true, false])
    #expect(try join(phone, key(2), seen: lab.now), "it has gone further")
    lab.broker.broadcasts.leave(try #require(phone.session), key(1))
    #expect(try join(phone, key(3)))
  }
}
