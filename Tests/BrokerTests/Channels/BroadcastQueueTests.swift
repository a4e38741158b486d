import Basics
import TestSupport
import Testing

import Broker

@Suite("Broadcasts to many")
struct BroadcastQueueTests {
  let lab = Lab()
  /// Two turns and a part of one.
  private static let many = 2 * BroadcastQueue.turnBudget + 88

  private func key(_ id: UInt8 = 1) throws -> ChannelTable.Key {
    ChannelTable.Key(topic: try lab.topic(), environment: .sandbox, id: [id])
  }

  private func create(_ id: UInt8 = 1, stores: Bool = true) throws -> ChannelTable.Key {
    let key = try key(id)
    let isNew = lab.broker.channels.create(key, storesNewest: stores)
    #expect(isNew)
    return key
  }

  private func listen(_ phone: TestDevice, _ key: ChannelTable.Key) throws {
    let hasJoined = lab.broker.broadcasts.join(try #require(phone.session), key, seenUntil: nil, now: lab.now)
    #expect(hasJoined)
  }

  private func listeners(_ count: Int, _ key: ChannelTable.Key) throws -> [TestDevice] {
    try (0..<count).map { number in
      let phone = try lab.connect("phone-\(key.id[0])-\(number)", enabling: [Lab.app])
      try listen(phone, key)
      return phone
    }
  }

  /// The clock stands still, so that nothing can be told by it.
  @discardableResult
  private func broadcast(_ text: String, _ key: ChannelTable.Key, through: ((UInt64) -> Void)? = nil)
    -> UInt64
  {
    lab.submission(to: [], text, topic: key.topic, expiration: lab.time(in: 3600)) {
      lab.broker.broadcasts.send($0, to: key, storageSeconds: 8 * 3600, now: lab.now, through: through)
    }
  }

  private func finish() {
    while lab.broker.broadcasts.goOn() {}
  }

  @Test(
    "A deleted channel of many is gone at once; its listeners follow some each turn, and may go on as they like"
  )
  func deletion() throws {
    let (key, other) = (try create(), try create(2))
    let phones = try listeners(Self.many, key)
    try listen(phones[0], other)
    #expect(lab.broker.channels.subscriptionCount == Self.many + 1)
    #expect(lab.broker.channels.delete(key) && lab.broker.channels.storesNewest(key) == nil)
    // One leaves, one goes, one comes back, and one listens to a channel of the same name.
    lab.broker.broadcasts.leave(try #require(phones[1].session), key)
    lab.broker.devices.sessionEnded(try #require(phones[2].session), now: lab.now)
    _ = try lab.connect("phone-1-2", enabling: [Lab.app])
    let again = try create()
    try listen(phones[3], again)
    var counts = [lab.broker.channels.subscriptionCount]
    var turns = 0
    var hasMore = true
    while turns < 100, hasMore {
      hasMore = lab.broker.broadcasts.goOn()
      turns += 1
      counts.append(lab.broker.channels.subscriptionCount)
    }
    #expect(turns > 1 && counts.last == 2)
    #expect(zip(counts, counts.dropFirst()).map { $0 - $1 }.max() == 256)
    broadcast("old", again)
    broadcast("other", other)
    finish()
    #expect(phones[3].broadcasts == ["old"] && phones[0].broadcasts == ["other"])
    #expect(phones[4].broadcasts == [])
  }

  @Test("go out in parts, some each turn, to each who listens exactly once, and are told then")
  func parts() throws {
    let key = try create()
    let phones = try listeners(Self.many, key)
    var through: [UInt64] = []
    let id = broadcast("hello", key) { through.append($0) }
    var reached = [phones.count { !$0.broadcasts.isEmpty }]
    #expect(lab.broker.broadcasts.isUnderWay(id) && through.isEmpty)
    while lab.broker.broadcasts.goOn() { reached.append(phones.count { !$0.broadcasts.isEmpty }) }
    #expect(reached == [256, 512])
    #expect(phones.allSatisfy { $0.broadcasts == ["hello"] })
    #expect(through == [id] && !lab.broker.broadcasts.isUnderWay(id) && lab.state(id) == .sent)
  }

  private final class Provider: PushWaiter {
    private(set) var heard: [UInt64] = []
    func settled(_ sequence: UInt64, _ result: SubmissionResult, undo: (() -> Void)?) {
      heard.append(result.id)
    }
    func resume() {}
    func endWithoutVerdicts() {}
  }

  @Test("a provider hears at once of one that is through, and of one to many once all have it")
  func verdicts() throws {
    let (few, key) = (try create(1), try create(2))
    _ = try listeners(Self.many, key)
    let (waiters, provider) = (PushWaiters(), Provider())
    let ticket = PushTicket(waiter: waiters.makeNumber(), sequence: 1)
    waiters.add(provider, as: ticket.waiter)
    let sink = LocalBroadcasts(lab.broker, waiters)
    let isLater = [few, key].map { key in
      lab.submission(to: [], "hello", topic: key.topic) {
        if case .later = sink.broadcast($0, to: key, storageSeconds: 0, for: ticket, now: lab.now) {
          true
        } else {
          false
        }
      }
    }
    #expect(isLater == [false, true])
    #expect(!provider.heard.contains(2))
    finish()
    #expect(provider.heard.contains(2))
  }

  @Test("go to 256 who listen in a turn, whichever channels they listen to")
  func budgetOfTurn() throws {
    let channels = [try create(1), try create(2)]
    let phones = [try listeners(100, channels[0]), try listeners(156 + 1, channels[1])]
    for key in channels { broadcast("hello", key) }
    #expect(phones.map { $0.count { $0.broadcasts == ["hello"] } } == [100, 156])
  }

  @Test("go to 32 more before it is asked whether the turn has time left")
  func shares() throws {
    let key = try create()
    let phones = try listeners(Self.many, key)
    broadcast("hello", key)
    var answers = [true, false]
    _ = lab.broker.broadcasts.goOn { answers.removeFirst() }
    #expect(answers.isEmpty && phones.count { !$0.broadcasts.isEmpty } == 256 + 32)
  }

  @Test("of one channel arrive in order, while another channel need not wait for its end")
  func order() throws {
    let (large, small) = (try create(1), try create(2))
    let phones = try listeners(Self.many, large)
    let other = try listeners(1, small)[0]
    for text in ["first", "second", "third"] { broadcast(text, large) }
    broadcast("other", small)
    _ = lab.broker.broadcasts.goOn()
    #expect(other.broadcasts == ["other"] && phones.last?.broadcasts == [])
    finish()
    #expect(phones.allSatisfy { $0.broadcasts == ["first", "second", "third"] })
  }

  @Test("come once, by the channel's store, to whoever comes, leaves or connects again meanwhile")
  func changesMeanwhile() throws {
    let key = try create()
    let phones = try listeners(Self.many, key)
    broadcast("before", key)
    finish()
    broadcast("hello", key)
    let (served, leaver, ender, asker) = (phones[0], phones[400], phones[500], phones[599])
    #expect(served.broadcasts.last == "hello" && asker.broadcasts == ["before"])
    lab.broker.broadcasts.leave(try #require(leaver.session), key)
    try lab.disconnect(ender)
    try lab.disconnect(served)
    // What the channel keeps is on its way to it, so it is not sent for another reason.
    try listen(asker, key)
    try lab.enable([], on: asker)
    try lab.enable([Lab.app], on: asker)
    let back = try lab.connect("phone-1-500", enabling: [Lab.app])
    let again = try lab.connect("phone-1-0", enabling: [Lab.app])
    let new = try lab.connect("new", enabling: [Lab.app])
    try listen(new, key)
    finish()
    #expect(back.broadcasts == ["hello"] && ender.broadcasts == ["before"])
    #expect(again.broadcasts.isEmpty && served.broadcasts == ["before", "hello"])
    #expect(leaver.broadcasts == ["before"] && new.broadcasts == ["hello"])
    #expect(asker.broadcasts == ["before", "hello"])
    let others = phones.indices.filter { ![400, 500].contains($0) }
    #expect(others.allSatisfy { phones[$0].broadcasts == ["before", "hello"] })
  }

  @Test("come once to whoever asks again while they are under way, the next in turn too")
  func askedAgain() throws {
    let key = try create()
    let phones = try listeners(Self.many, key)
    broadcast("hello", key)
    #expect(phones[255].broadcasts == ["hello"] && phones[256].broadcasts.isEmpty)
    for phone in phones { try listen(phone, key) }
    finish()
    #expect(phones.allSatisfy { $0.broadcasts == ["hello"] })
  }

  @Test("of a channel that keeps nothing don't come to who joins while they are under way")
  func notKept() throws {
    let key = try create(stores: false)
    let phones = try listeners(Self.many, key)
    broadcast("hello", key)
    lab.broker.broadcasts.leave(try #require(phones[600 - 1].session), key)
    // It fills the gap, and is looked at therefore.
    let new = try listeners(1, key)[0]
    finish()
    #expect(new.broadcasts.isEmpty && phones[599].broadcasts.isEmpty)
    #expect(phones.dropLast().allSatisfy { $0.broadcasts == ["hello"] })
  }

  @Test("end with their channel, and what nobody listens to is through at once")
  func deleted() throws {
    let (key, empty, forgetful) = (try create(1), try create(2), try create(3, stores: false))
    let phones = try listeners(Self.many, key)
    let id = broadcast("hello", key)
    let unheard = [broadcast("void", empty), broadcast("void", forgetful)]
    #expect(!unheard.contains(where: lab.broker.broadcasts.isUnderWay))
    #expect(unheard.map { lab.state($0) } == [.stored, .discarded])
    let isDeleted = lab.broker.channels.delete(key)
    #expect(isDeleted)
    finish()
    #expect(phones.last?.broadcasts == [] && !lab.broker.broadcasts.isUnderWay(id))
  }

  @Test("beyond so many under way, the others are handed to all at once")
  func bounded() throws {
    let key = try create()
    let phones = try listeners(Self.many, key)
    for number in 0..<1024 { broadcast("\(number)", key) }
    #expect(lab.broker.broadcasts.underWayCount == 1024 && phones.last?.broadcasts == [])
    broadcast("1024", key)
    #expect(lab.broker.broadcasts.underWayCount == 1024 && phones.last?.broadcasts == ["0"])
    // No more are under way than may be: the next turn is one as usual.
    _ = lab.broker.broadcasts.goOn()
    #expect(phones.count { $0.broadcasts.last == "1" } == 256)
  }

  @Test("deleted channels that nobody listens to leave nothing for a later turn")
  func deletedUnheard() throws {
    let topic = try lab.topic()
    for number in 0...256 {
      let id = [UInt8(number >> 8), UInt8(number & 0xff)]
      lab.broker.channels.create(.init(topic: topic, environment: .sandbox, id: id), storesNewest: true)
    }
    let hasMore = lab.broker.channels.deleteSome(257)
    #expect(!hasMore && !lab.broker.broadcasts.goOn())
  }

  @Test("those who left make room for those who come, in any order")
  func places() throws {
    var list = ListenerList()
    let phones = try (0..<200).map { try lab.connect("phone-\($0)") }
    let places = try phones.map { list.add(try #require($0.session)) }
    #expect(list.count == 200 && list.end == 200)
    for place in places where place % 2 == 0 { list.remove(at: place) }
    list.remove(at: 0)
    #expect(list.count == 100 && list[0] == nil && list[1] === phones[1].session)
    for phone in phones.prefix(100) { _ = list.add(try #require(phone.session)) }
    #expect(list.count == 200 && list.end == 200)
    for place in 0..<200 { list.remove(at: place) }
    #expect(list.count == 0 && list.end == 0 && list[0] == nil)
  }
}
