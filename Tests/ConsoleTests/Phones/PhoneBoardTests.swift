import Basics
import Broker
import PushModel
import TestSupport
import Testing

import Phones

/// What is known of phones, and who waits for them.
struct PhoneBoardTests {
  private let board: PhoneBoard
  private let broker = Broker(derivation: FakeDerivation())
  private let udid: UDID
  private let phone: FakePhone

  init() throws {
    board = PhoneBoard(broker, now: { Timestamp(seconds: 1_767_323_045) }, publish: { _, _ in })
    udid = try #require(UDID("phone-1"))
    phone = FakePhone(board, udid)
  }

  private func log(_ udid: UDID? = nil) -> [String] {
    board.json(udid ?? self.udid).map { JSONReader.read($0.encoded)?["log"].elements ?? [] }?
      .compactMap { $0["event"].string } ?? []
  }

  private func fake(_ name: String) throws -> FakePhone { FakePhone(board, try #require(UDID(name))) }

  @Test("a phone is shown as it last told of itself, with what happened, and stays known when it goes")
  func document() throws {
    #expect(board.json(udid) == nil && !board.isConnected(udid))
    phone.connect()
    phone.tell([FakePhone.event("presented", of: 1)])
    for isOnline in [true, false] {
      let bytes = try #require(board.json(udid)).encoded
      let json = try #require(JSONReader.read(bytes))
      #expect(json.names == ["udid", "online", "queued", "iosVersion", "settings", "screen", "apps", "log"])
      #expect(json["online"].bool == isOnline && json["iosVersion"].string == "18")
      #expect(json["log"][0]["event"].string == "presented")
      phone.disconnect()
    }
  }

  @Test("of events the newest 200 are kept; what is none is passed over")
  func bounded() {
    phone.connect()
    phone.tell((0..<150).map { _ in FakePhone.event("sound") })
    phone.tell((0..<149).map { _ in FakePhone.event("badge") } + [FakePhone.event("callback")])
    #expect(log().count == 200)
    #expect(log().first == "sound" && log().last == "callback")
    phone.tell(["1", "{}", #"{"event":"x"}"#, FakePhone.event("With Blanks")])
    phone.tell([FakePhone.event("sound", detail: String(repeating: "x", count: PhoneHappening.byteLimit))])
    #expect(log().last == "callback")
    phone.document = "[]"
    phone.tell(["not json"])
    #expect(log().last == "callback" && board.json(udid) != nil)
  }

  @Test("what was lost, and what a phone can't say, is in its log")
  func troubles() {
    phone.connect()
    phone.tell([FakePhone.event("sound")], lost: 2, problem: "too large")
    #expect(log() == ["lost", "sound", "problem"])
  }

  @Test("an order is answered by the report that names it, once")
  func orders() throws {
    phone.manner = .waits
    phone.connect()
    var answers: [String] = []
    for _ in 0..<2 {
      board.order(["do": "close"], to: udid) {
        switch $0 {
        case .done(let events): answers.append(events.text)
        case .refused(let sentence): answers.append(sentence)
        case .gone: answers.append("gone")
        }
      }
    }
    #expect(phone.orders.map(\.order.text) == [#"{"do":"close"}"#, #"{"do":"close"}"#])
    let numbers = phone.orders.map(\.number)
    #expect(numbers[0] != numbers[1])
    #expect(!phone.answer(numbers[1] + 1) && !phone.tell())
    let stranger = try fake("phone-2")
    stranger.connect()
    #expect(!stranger.answer(numbers[1]))
    #expect(phone.answer(numbers[1], [FakePhone.event("opened")]))
    #expect(!phone.answer(numbers[1]))
    #expect(answers == ["[\(FakePhone.event("opened"))]"])
    phone.disconnect()
    #expect(answers.last == "gone" && answers.count == 2)
  }

  @Test("one that was withdrawn is answered to nobody")
  func withdrawn() throws {
    phone.manner = .waits
    phone.connect()
    let number = try #require(board.order(["do": "close"], to: udid) { _ in Issue.record("withdrawn") })
    board.withdraw(number)
    #expect(!phone.answer(number))
    phone.disconnect()
  }

  @Test("so many orders may be on their way to one phone, and in all")
  func room() throws {
    phone.manner = .waits
    phone.connect()
    for _ in 0..<PhoneBoard.ordersOfOne { board.order([:], to: udid) { _ in } }
    #expect(!board.hasRoom(udid))
    var others: [FakePhone] = []
    while others.count < PhoneBoard.orderLimit / PhoneBoard.ordersOfOne - 1 {
      let other = try fake("other-\(others.count)")
      other.manner = .waits
      other.connect()
      #expect(board.hasRoom(other.udid))
      for _ in 0..<PhoneBoard.ordersOfOne { board.order([:], to: other.udid) { _ in } }
      others.append(other)
    }
    #expect(!board.hasRoom(try fake("another").udid))
    phone.disconnect()
    #expect(board.hasRoom(udid))
  }

  @Test("the newest connection of a device counts, and the older one's end changes nothing")
  func newest() {
    phone.connect()
    let newer = FakePhone(board, udid)
    newer.connect()
    phone.disconnect()
    #expect(board.isConnected(udid))
    #expect(!phone.tell([FakePhone.event("sound")]))
    #expect(log().isEmpty)
    board.order(["do": "close"], to: udid) { _ in }
    #expect(phone.orders.isEmpty && newer.orders.count == 1)
  }

  @Test("a phone with two connections tells by either, and is there as long as one is")
  func both() {
    phone.connect()
    let newer = FakePhone(board, udid)
    newer.connect()
    newer.manner = .waits
    // Nobody has asked, but it is heard.
    #expect(!phone.tell([FakePhone.event("sound")]) && log() == ["sound"])
    var ends = 0
    board.order(["do": "close"], to: udid) { if case .gone = $0 { ends += 1 } }
    newer.disconnect()
    #expect(ends == 1 && board.isConnected(udid))
    board.order(["do": "close"], to: udid) { _ in }
    #expect(phone.orders.count == 1)
    phone.disconnect()
    #expect(!board.isConnected(udid))
  }

  @Test("settings wait for a phone that is offline, are told when it comes, and its log says so")
  func queue() {
    phone.connect()
    phone.disconnect()
    #expect(board.queue(["locked": false], for: udid) && board.queue(["lowPower": true], for: udid))
    #expect(board.json(udid)?.text.contains(#""queued":{"locked":false,"lowPower":true}"#) == true)
    phone.connect()
    #expect(phone.orders.map(\.order.text) == [#"{"do":"settings","locked":false,"lowPower":true}"#])
    #expect(log() == ["settings", "settings"])
    #expect(board.json(udid)?.text.contains("are in force") == true)
    #expect(board.json(udid)?.text.contains(#""queued":null"#) == true)
    phone.disconnect()
    phone.connect()
    #expect(phone.orders.count == 1)
  }

  @Test("settings that a phone has not confirmed are told again; those it refuses are not")
  func unconfirmed() {
    #expect(board.queue(["locked": false], for: udid))
    phone.manner = .waits
    phone.connect()
    phone.disconnect()
    phone.manner = .refuses("no such setting")
    phone.connect()
    #expect(phone.orders.count == 2)
    #expect(board.json(udid)?.text.contains("are refused: no such setting") == true)
    phone.disconnect()
    phone.connect()
    #expect(phone.orders.count == 2)
  }

  @Test("when there is no room, those that were heard longest ago are forgotten")
  func memory() throws {
    let filling = String(repeating: "x", count: 250_000)
    var phones: [FakePhone] = []
    for number in 0..<300 {
      let phone = try fake("phone-\(number)")
      phone.document = #"{"filling":"\#(filling)"}"#
      phone.connect()
      if number % 2 == 0 { phone.disconnect() }
      phones.append(phone)
    }
    let known = phones.map { board.json($0.udid) != nil }
    let first = try #require(known.firstIndex(of: true))
    #expect(known[first...].allSatisfy { $0 })
    #expect((known.count - first) * 250_000 <= PhoneBoard.byteLimit)
    #expect((known.count - first + 1) * 252_000 > PhoneBoard.byteLimit)
    // One that is there goes on.
    #expect(board.isConnected(phones[1].udid) && !board.isConnected(phones[0].udid))
    phones[1].tell()
    #expect(board.json(phones[1].udid) != nil)
  }

  @Test("a reset forgets what was told, and logs alone if only notifications are")
  func reset() {
    phone.connect()
    phone.tell([FakePhone.event("sound")])
    board.forgetLogs()
    #expect(board.json(udid) != nil && log().isEmpty)
    board.forgetAll()
    #expect(board.json(udid) == nil && board.isConnected(udid))
    phone.tell()
    #expect(board.json(udid) != nil)
  }
}
