import PushModel
import Testing

import Broker

@Suite("The last message of a token (promise 2)")
struct StoredNotificationTests {
  let lab = Lab()

  @Test("only the newest of several reaches a device that was offline, once")
  func newest() throws {
    let row = try lab.row()
    let ids = ["1", "2", "3"].map { lab.push(row, $0) }
    let phone = try lab.connect()
    #expect(try lab.enable([Lab.app], on: phone) == 1)
    #expect(phone.texts == ["3"])
    #expect(ids.map { lab.state($0) } == [.replaced, .replaced, .sent])
    lab.acknowledge(phone, 0)
    #expect(lab.state(ids[2]) == .delivered)
    try lab.disconnect(phone)
    let again = try lab.connect(enabling: [Lab.app])
    #expect(again.texts.isEmpty)
  }

  @Test("each token has its own")
  func perToken() throws {
    let rows = [try lab.row(), try lab.row("phone", "com.example.other"), try lab.row("tablet")]
    for (number, row) in rows.enumerated() { lab.push(row, "\(number)") }
    let phone = try lab.connect(enabling: [Lab.app, "com.example.other"])
    #expect(phone.texts == ["0", "1"])
    let tablet = try lab.connect("tablet", enabling: [Lab.app])
    #expect(tablet.texts == ["2"])
  }

  @Test("the environments keep apart")
  func environments() throws {
    let sandbox = try lab.row()
    let production = try lab.row("phone", Lab.app, .production)
    lab.push(sandbox, "sandbox")
    lab.push(production, "production")
    #expect(try lab.connect(environment: .production, enabling: [Lab.app]).texts == ["production"])
    #expect(lab.kept(sandbox) == "sandbox")
  }

  @Test("push type and collapse id come with it, kept or not; what nobody said stays unsaid")
  func said() throws {
    let row = try lab.row()
    let push = { (text: String, type: PushType?, collapseId: String) in
      let token = lab.broker.registry[row].token.bytes
      _ = lab.submission(
        to: token, text, topic: lab.broker.registry[row].topic, environment: .sandbox, interface: .provider,
        expiration: nil
      ) { submission in
        var submission = submission
        submission.plain.pushType = type
        let collapseId = Array(collapseId.utf8)
        submission.plain.collapseId = collapseId.span
        return lab.broker.routing.submit(submission, now: lab.now)
      }
    }
    push("kept", .background, "score")
    let phone = try lab.connect(enabling: [Lab.app])
    push("direct", nil, "")
    push("longer than the one before", .alert, "other")
    try lab.disconnect(phone)
    let again = try lab.connect(enabling: [Lab.app])
    let told = (phone.received + again.received).map { [$0.text, $0.pushType?.name, $0.collapseId] }
    let last: [String?] = ["longer than the one before", "alert", "other"]
    #expect(told == [["kept", "background", "score"], ["direct", nil, nil], last, last])
  }

  /// Two expirations after which nothing is kept: 0, and the time that it is.
  static let passed: [UInt32] = [0, UInt32(Lab().now.seconds)]

  @Test("an expiration of 0, or one that is now, is tried once and never kept", arguments: passed)
  func once(_ expiration: UInt32) throws {
    let row = try lab.row()
    let missed = lab.push(row, "missed", expiration: expiration)
    #expect(lab.state(missed) == .discarded)
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(phone.texts.isEmpty)
    let tried = lab.push(row, "tried", expiration: expiration)
    #expect(phone.texts == ["tried"])
    #expect(phone.received[0].expiry == expiration)
    try lab.disconnect(phone)
    #expect(lab.state(tried) == .discarded)
    #expect(lab.kept(row) == nil)
  }

  @Test("an expiration of 0 does not push out what is kept")
  func onceBeside() throws {
    let row = try lab.row()
    lab.push(row, "kept")
    lab.push(row, "once", expiration: 0)
    #expect(try lab.connect(enabling: [Lab.app]).texts == ["kept"])
  }

  @Test("without an expiration it is kept for 30 days", arguments: [(-1, ["old"]), (0, [])])
  func noExpiration(_ delta: Int, _ expected: [String]) throws {
    let row = try lab.row()
    lab.push(row, "old")
    lab.pass(seconds: Limits.defaultStorageSeconds + Int64(delta))
    let phone = try lab.connect(enabling: [Lab.app])
    #expect(phone.texts == expected)
    #expect(phone.received.first.map(\.expiry) ?? .max == .max)
  }

  @Test("an expiration beyond 30 days is cut to them")
  func longExpiration() throws {
    let row = try lab.row()
    lab.push(row, "forever", expiration: 0x7fff_ffff)
    #expect(lab.broker.deliveries.stored(row)?.head.expiry == 0x7fff_ffff)
    lab.pass(seconds: Limits.defaultStorageSeconds)
    #expect(try lab.connect(enabling: [Lab.app]).texts.isEmpty)
  }

  @Test("it expires at its second, not before", arguments: [(9, ["short"]), (10, [])])
  func expires(_ seconds: Int, _ expected: [String]) throws {
    let row = try lab.row()
    let id = lab.push(row, "short", expiration: lab.time(in: 10))
    lab.pass(seconds: Int64(seconds))
    #expect(try lab.connect(enabling: [Lab.app]).texts == expected)
    #expect(lab.state(id) == (expected.isEmpty ? .expired : .sent))
    #expect(lab.broker.counters.expired == (expected.isEmpty ? 1 : 0))
  }

  @Test("an expiration that is now has passed", arguments: [(-1, false), (0, false), (1, true)])
  func expiresNow(_ seconds: Int, _ isKept: Bool) throws {
    let row = try lab.row()
    let id = lab.push(row, "now", expiration: lab.time(in: Int64(seconds)))
    #expect((lab.kept(row) != nil) == isKept)
    #expect(lab.state(id) == (isKept ? .stored : .discarded))
  }

  @Test("an expired one does not bring an older one back")
  func noOlder() throws {
    let row = try lab.row()
    lab.push(row, "long", expiration: lab.time(in: 1000))
    lab.push(row, "short", expiration: lab.time(in: 10))
    lab.pass(seconds: 20)
    #expect(try lab.connect(enabling: [Lab.app]).texts.isEmpty)
  }

  @Test("what the device has not acknowledged comes again on the next connection, marked as kept")
  func again() throws {
    let row = try lab.row()
    let first = try lab.connect(enabling: [Lab.app])
    let id = lab.push(row, "unacknowledged")
    #expect(first.received.map(\.storageFlags) == [0])
    try lab.disconnect(first)
    #expect(lab.state(id) == .stored)
    let second = try lab.connect(enabling: [Lab.app])
    #expect(second.texts == ["unacknowledged"])
    #expect(second.received.map(\.storageFlags) == [3])
    #expect(second.received[0].messageId == first.received[0].messageId)
  }

  @Test("of several unacknowledged ones only the newest comes again")
  func newestAgain() throws {
    let row = try lab.row()
    let first = try lab.connect(enabling: [Lab.app])
    let ids = ["1", "2", "3"].map { lab.push(row, $0) }
    try lab.disconnect(first)
    #expect(try lab.connect(enabling: [Lab.app]).texts == ["3"])
    #expect(ids.map { lab.state($0) } == [.replaced, .replaced, .sent])
  }

  @Test("an older unacknowledged one does not come again once a newer one was acknowledged")
  func olderUnacknowledged() throws {
    let row = try lab.row()
    let first = try lab.connect(enabling: [Lab.app])
    let ids = ["1", "2"].map { lab.push(row, $0) }
    lab.acknowledge(first, 1)
    try lab.disconnect(first)
    #expect(try lab.connect(enabling: [Lab.app]).texts.isEmpty)
    #expect(ids.map { lab.state($0) } == [.replaced, .delivered])
  }

  @Test("a newer one that came while the topic was off wins over the unacknowledged one")
  func newerWhileOff() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "unacknowledged")
    try lab.enable([], on: phone)
    lab.push(row, "newer")
    try lab.disconnect(phone)
    #expect(try lab.connect(enabling: [Lab.app]).texts == ["newer"])
  }

  @Test("the acknowledgement of an older one leaves the newer alone")
  func olderAcknowledged() throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "older")
    try lab.enable([], on: phone)
    lab.push(row, "newer")
    lab.acknowledge(phone, 0)
    #expect(lab.kept(row) == "newer")
    #expect(try lab.enable([Lab.app], on: phone) == 1)
    #expect(phone.texts == ["older", "newer"])
  }

  @Test("an unacknowledged one whose time has passed does not come again")
  func expiredInFlight() throws {
    let row = try lab.row()
    let first = try lab.connect(enabling: [Lab.app])
    let id = lab.push(row, "short", expiration: lab.time(in: 10))
    lab.pass(seconds: 11)
    lab.broker.deliveries.dropExpired(now: lab.now, budget: 10)
    try lab.disconnect(first)
    #expect(try lab.connect(enabling: [Lab.app]).texts.isEmpty)
    #expect(lab.state(id) == .expired)
  }

  @Test(
    "a tried message that is not to be kept was discarded, not replaced, when nobody acknowledged it",
    arguments: passed)
  func discardedNotReplaced(_ expiration: UInt32) throws {
    let row = try lab.row()
    let phone = try lab.connect(enabling: [Lab.app])
    lab.push(row, "kept")
    let once = lab.push(row, "once", expiration: expiration)
    try lab.disconnect(phone)
    #expect(lab.state(once) == .discarded)
    #expect(lab.kept(row) == "kept")
  }

  @Test("kept messages of several topics come oldest first, the last one marked")
  func order() throws {
    let names = ["a.one", "a.two", "a.three"]
    let rows = try names.map { try lab.row("phone", $0) }
    for (row, text) in [(rows[1], "1"), (rows[2], "2"), (rows[0], "3")] { lab.push(row, text) }
    let phone = try lab.connect(enabling: names)
    #expect(phone.texts == ["1", "2", "3"])
    #expect(phone.received.map(\.storageFlags) == [1, 1, 3])
    #expect(phone.received.map(\.receivedAt) == [lab.now, lab.now, lab.now])
  }

  @Test("one whose time is over and that was not swept neither counts nor takes the mark of the last")
  func overdue() throws {
    let names = ["a.one", "a.two"]
    let rows = try names.map { try lab.row("phone", $0) }
    lab.push(rows[0], "1")
    let late = lab.push(rows[1], "2", expiration: lab.time(in: 5))
    let other = try lab.row("other", names[0])
    lab.push(other, "3", expiration: lab.time(in: 5))
    lab.pass(seconds: 5)
    let phone = try lab.connect()
    #expect(try lab.enable(names, on: phone) == 1)
    #expect(phone.texts == ["1"] && phone.received.map(\.storageFlags) == [3])
    #expect(lab.state(late) == .expired)
    // The device is told that nothing is stored (`Documentation/device-protocol.md#tokens-and-sessions`).
    #expect(try lab.enable(names, on: lab.connect("other")) == 0)
  }

  @Test("the sweep for expired ones goes round in portions")
  func sweep() throws {
    for number in 0..<10 { lab.push(try lab.row("phone-\(number)"), "x", expiration: lab.time(in: 5)) }
    lab.pass(seconds: 5)
    lab.broker.deliveries.dropExpired(now: lab.now, budget: 4)
    #expect(lab.broker.counters.expired == 4)
    lab.broker.deliveries.dropExpired(now: lab.now, budget: 4)
    lab.broker.deliveries.dropExpired(now: lab.now, budget: 4)
    #expect(lab.broker.counters.expired == 10)
  }
}
