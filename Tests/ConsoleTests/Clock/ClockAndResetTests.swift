import Basics
import Broker
import Console
import ConsoleAnswers
import Testing
import Transport

@Suite struct ClockAndResetTests {
  private func put(_ lab: ConsoleLab, _ json: String) throws -> JSONValue {
    let response = try lab.ask("PUT", "/api/v1/clock", json: json)
    try #require(response.status == 200, "\(String(decoding: response.body, as: UTF8.self))")
    return try #require(JSONReader.read(response.body))
  }

  @Test("The clock is shown, advanced, set and frozen")
  func clock() throws {
    let lab = ConsoleLab()
    let start = #"{"now":"2026-01-02T03:04:05.000Z","frozen":false,"offset":0.0}"#
    #expect(String(decoding: try lab.ask("GET", "/api/v1/clock").body, as: UTF8.self) == start)
    #expect(try put(lab, #"{"advance": "61m"}"#)["now"].string == "2026-01-02T04:05:05.000Z")
    #expect(try put(lab, #"{"advance": "-1h"}"#)["offset"].text == "60.0")
    let set = try put(lab, #"{"set": "2030-01-01T00:00:00Z", "advance": "1d", "freeze": true}"#)
    #expect(set["now"].string == "2030-01-02T00:00:00.000Z" && set["frozen"].bool == true)
    #expect(try put(lab, #"{"freeze": false}"#)["frozen"].bool == false)
  }

  @Test("The clock advances by just what was asked, though the system's time goes on meanwhile")
  func exact() throws {
    let lab = ConsoleLab()
    lab.clock.delay = 1_300_000
    #expect(try put(lab, #"{"advance": "2h"}"#)["offset"].text == "7200.0")
    #expect(try put(lab, #"{"advance": "61m"}"#)["offset"].text == "10860.0")
  }

  private func request(_ lab: ConsoleLab, _ body: [UInt8]) throws -> ConsoleRequest {
    let http = try #require(HTTPRequest("PUT", "/api/v1/clock", body: body, localPort: 8790))
    return ConsoleRequest(http: http, captures: [:], now: lab.now)
  }

  @Test(
    "Nodes agree on the clock, however late they hear of an order",
    arguments: [
      [#"{"advance": "2h"}"#], [#"{"advance": "2h"}"#, #"{"advance": "-61m"}"#],
      [#"{"set": "2030-01-01T00:00:00Z"}"#], [#"{"set": "2030-01-01T00:00:00Z", "advance": "1d"}"#],
      [#"{"set": "2199-12-31T23:59:59Z"}"#], [#"{"set": "1970-01-01T00:00:00Z"}"#],
      [#"{"freeze": true}"#, #"{"freeze": false}"#],
      [#"{"advance": "1h", "freeze": true}"#, #"{"advance": "1h"}"#, #"{"freeze": false}"#],
    ])
  func orders(changes: [String]) throws {
    let (first, second) = (ConsoleLab(), ConsoleLab())
    var orders: [[UInt8]] = []
    for change in changes {
      let order = try first.parts.clockGroup.absoluteClock(request(first, Array(change.utf8)))
      orders.append(order)
      _ = try first.parts.clockGroup.moveClockAtOnce(request(first, order))
      for lab in [first, second] { lab.clock.runSystem(nanoseconds: 15_000_000_000) }
    }
    for order in orders {
      second.clock.runSystem(nanoseconds: 20_000_000_000)
      first.clock.runSystem(nanoseconds: 20_000_000_000)
      _ = try second.parts.clockGroup.moveClockAtOnce(request(second, order))
    }
    #expect(second.clock.frozenAt == first.clock.frozenAt)
    #expect(abs(second.clock.moment.nanoseconds - first.clock.moment.nanoseconds) < 1_000)
  }

  @Test("The orders of earlier versions, which a log may keep, name a moment")
  func earlierOrders() throws {
    let lab = ConsoleLab()
    let order = { (body: String) in
      _ = try lab.parts.clockGroup.moveClockAtOnce(request(lab, Array(body.utf8)))
    }
    try order(#"{"set":"2030-01-01T00:00:00.000Z","freeze":true}"#)
    #expect(lab.clock.frozenAt?.rfc3339 == "2030-01-01T00:00:00.000Z")
    try order(#"{"set":"2031-01-01T00:00:00.000Z","freeze":false}"#)
    #expect(lab.clock.frozenAt == nil && lab.clock.moment.rfc3339 == "2031-01-01T00:00:00.000Z")
  }

  @Test("Moving the clock ends what is over at once")
  func expiry() throws {
    let lab = ConsoleLab()
    try lab.push(try lab.install().bytes, "{}", expiration: UInt32(lab.now.seconds) + 60)
    _ = try put(lab, #"{"advance": "59s"}"#)
    #expect(try lab.get("/api/v1/notifications/1")["state"].string == "stored")
    _ = try put(lab, #"{"advance": "1s"}"#)
    #expect(try lab.get("/api/v1/notifications/1")["state"].string == "expired")
  }

  @Test(
    "A bad change says what was expected",
    arguments: [
      ("{}", "set, advance or freeze"), (#"{"advance": "soon"}"#, "61m"), (#"{"advance": 61}"#, "61m"),
      (#"{"set": "tomorrow"}"#, "2026-01-02T03:04:05Z"), (#"{"freeze": "yes"}"#, "true or false"),
      (#"{"set": "9999-01-01T00:00:00Z"}"#, "1970 to 2199"), (#"{"advance": "-90000d"}"#, "1970 to 2199"),
      (#"{"offset": 1}"#, "freeze"),
    ])
  func badChange(json: String, expected: String) throws {
    let lab = ConsoleLab()
    #expect(try lab.refusal("PUT", "/api/v1/clock", 400, json: json).contains(expected))
    #expect(lab.clock.offset == 0 && lab.clock.frozenAt == nil)
  }

  @Test("A time too far away is repeated as it was written")
  func farAway() throws {
    let lab = ConsoleLab()
    let body = #"{"set": "9999-12-31T23:59:59Z", "advance": "1h"}"#
    let message = try lab.refusal("PUT", "/api/v1/clock", 400, json: body)
    #expect(message.contains("9999-12-31T23:59:59Z, advance 1h"))
  }

  @Test("The clock is part of the info")
  func info() throws {
    let lab = ConsoleLab()
    _ = try put(lab, #"{"advance": "61m", "freeze": true}"#)
    let clock = try lab.get("/api/v1/info")["clock"]
    #expect(clock.text == (try lab.get("/api/v1/clock")).text && clock["frozen"].bool == true)
  }

  /// A lab with something of everything.
  private func full() throws -> ConsoleLab {
    let lab = ConsoleLab()
    let gone = try lab.install("gone")
    _ = try lab.ask("POST", "/api/v1/devices/gone/apps/com.example.app/remove")
    _ = try lab.connect("gone")
    try lab.push(gone.bytes, "{}")
    try lab.push(try lab.install("offline").bytes, "{}")
    lab.broker.channels.create(Self.channel, storesNewest: true)
    _ = lab.broker.withBroadcast("{}", of: Self.channel, expiration: 4_000_000_000) {
      lab.broker.broadcasts.send($0, to: Self.channel, storageSeconds: 28_800, now: lab.now)
    }
    lab.clock.pass(seconds: 60)
    return lab
  }

  private static let channel = ChannelTable.Key(topic: 0, environment: .sandbox, id: [1])

  private func reset(_ lab: ConsoleLab, _ json: String?) throws -> [String?] {
    let response = try lab.ask("POST", "/api/v1/reset", json: json)
    return try #require(JSONReader.read(response.body))["reset"].elements.map(\.string)
  }

  private func left(_ lab: ConsoleLab) throws -> [String] {
    let stored = try lab.get("/api/v1/devices")["devices"].elements.contains { $0["keptMessages"].count > 0 }
    let hasBroadcast = lab.broker.channels.newest(Self.channel) != nil
    return [
      lab.clock.offset != 0 ? "clock" : nil,
      try lab.get("/api/v1/feedback")["feedback"].count > 0 ? "feedback" : nil, stored ? "store" : nil,
      hasBroadcast ? "broadcast" : nil,
      try lab.get("/api/v1/channels")["channels"].count > 0 ? "channels" : nil,
      try lab.get("/api/v1/devices")["devices"].count > 0 ? "devices" : nil,
      try lab.get("/api/v1/notifications")["notifications"].count > 0 ? "notifications" : nil,
    ].compactMap(\.self)
  }

  @Test(
    "Everything is reset when nothing is named, and twice is as once",
    arguments: [nil, "{}", #"{"what": []}"#])
  func resetAll(json: String?) throws {
    let lab = try full()
    #expect(
      try left(lab) == ["clock", "feedback", "store", "broadcast", "channels", "devices", "notifications"])
    for _ in 0..<2 {
      #expect(try reset(lab, json) == ResetPart.allCases.map(\.rawValue))
      #expect(try left(lab) == [])
    }
  }

  @Test(
    "Each part is reset alone",
    arguments: [
      ("clock", ["feedback", "store", "broadcast", "channels", "devices", "notifications"]),
      ("feedback", ["clock", "store", "broadcast", "channels", "devices", "notifications"]),
      ("store", ["clock", "feedback", "channels", "devices", "notifications"]),
      ("channels", ["clock", "feedback", "store", "devices", "notifications"]),
      ("devices", ["clock", "broadcast", "channels", "notifications"]),
      ("notifications", ["clock", "feedback", "store", "broadcast", "channels", "devices"]),
    ])
  func resetPart(part: String, remaining: [String]) throws {
    let lab = try full()
    #expect(try reset(lab, #"{"what": ["\#(part)"]}"#) == [part])
    #expect(try left(lab) == remaining)
  }

  @Test(
    "Many rows are looked through over several turns, in which others are answered",
    arguments: [
      ("PUT", "/api/v1/clock", #"{"advance":"61m"}"#), ("POST", "/api/v1/reset", #"{"what":["store"]}"#),
      ("POST", "/api/v1/reset", #"{"what":["devices"]}"#),
    ])
  func manyRows(method: String, path: String, json: String) throws {
    let lab = ConsoleLab()
    for number in 0..<20_000 { try lab.install("phone-\(number)") }
    try lab.push(try lab.install().bytes, "{}", expiration: UInt32(lab.now.seconds) + 60)
    let answer = try lab.open(method, path, json: json)
    #expect(!answer.isComplete)
    #expect(try lab.open("GET", "/livez").isComplete)
    #expect(try lab.whole(answer, turns: 100).status == 200)
    #expect(try lab.get("/api/v1/notifications/1")["state"].string != "stored")
  }

  /// Something that a reset takes away, a thousand times.
  enum Many: String, CaseIterable {
    case feedback, foreign, channels, devices

    var part: String { self == .foreign ? "feedback" : rawValue }

    func make(_ lab: ConsoleLab) throws {
      for number in 0..<1000 {
        switch self {
        case .feedback:
          let row = lab.broker.registry.find(try lab.install("phone-\(number)"))
          lab.broker.feedback.reportGone(try #require(row), now: lab.now)
        case .foreign:
          let bytes = Array("\(number)".utf8)
          lab.broker.feedback.reportForeignGone(
            token: bytes, topic: 0, environment: .sandbox, goneAt: lab.now)
        case .channels:
          let id = Array("\(number)".utf8)
          lab.broker.channels.create(.init(topic: 0, environment: .sandbox, id: id), storesNewest: true)
        case .devices: _ = try lab.connect("phone-\(number)")
        }
      }
    }

    func left(_ lab: ConsoleLab) -> Int {
      switch self {
      case .feedback, .foreign: lab.broker.feedback.count
      case .channels: lab.broker.channels.count
      case .devices: lab.broker.registry.onlineCount
      }
    }
  }

  @Test("Of many a turn takes away some, and others are answered meanwhile", arguments: Many.allCases)
  func many(kind: Many) throws {
    let lab = ConsoleLab()
    try lab.install()
    try kind.make(lab)
    let answer = try lab.open("POST", "/api/v1/reset", json: #"{"what":["\#(kind.part)"]}"#)
    var left = [1000, kind.left(lab)]
    while !answer.isComplete, left.count < 100 {
      #expect(try lab.open("GET", "/livez").isComplete)
      lab.turn()
      left.append(kind.left(lab))
    }
    #expect(answer.response?.status == 200 && left.last == 0)
    // At eight units each.
    let most = SliceScheduler.turnBudget / 8 + 32
    #expect(zip(left, left.dropFirst()).allSatisfy { $0 - $1 <= most }, "\(left)")
  }

  @Test("A reset bears another that forgets the devices meanwhile", arguments: Many.allCases)
  func forgottenMeanwhile(kind: Many) throws {
    let lab = ConsoleLab()
    try lab.install()
    try kind.make(lab)
    let answer = try lab.open("POST", "/api/v1/reset", json: #"{"what":["\#(kind.part)"]}"#)
    try #require(!answer.isComplete && kind.left(lab) > 0)
    lab.broker.forgetDevices(now: lab.now)
    #expect(try lab.whole(answer, turns: 100).status == 200 && kind.left(lab) == 0)
  }

  @Test("History survives a reset of devices without naming rows that are gone")
  func historyAfterDevices() throws {
    let lab = try full()
    _ = try reset(lab, #"{"what": ["devices"]}"#)
    #expect(try lab.get("/api/v1/notifications")["notifications"].elements.allSatisfy { $0["udid"].isNull })
    try lab.install("new")
    #expect(try lab.get("/api/v1/notifications?udid=new")["notifications"].count == 0)
  }

  @Test("An unknown part is refused, and nothing is reset")
  func unknownPart() throws {
    let lab = try full()
    let message = try lab.refusal("POST", "/api/v1/reset", 400, json: #"{"what": ["clock", "world"]}"#)
    #expect(message.contains("notifications") && message.contains("world"))
    #expect(lab.clock.offset != 0)
  }
}
