import Basics
import Broker
import Phones
import PushModel
import Testing
import Transport

import Console

/// Phones through the API.
struct PhoneRoutesTests {
  private let lab = ConsoleLab()
  private let path = "/api/v1/devices/phone/phone"
  private let phone: FakePhone

  init() throws {
    try lab.install()
    phone = FakePhone(lab.parts.phones, try #require(UDID("phone")))
    lab.phones.append(phone)
  }

  private func post(_ verb: String, _ body: String) throws -> HTTPResponse {
    try lab.ask("POST", "\(path)/\(verb)", json: body)
  }

  private func text(_ response: HTTPResponse) -> String { String(decoding: response.body, as: UTF8.self) }

  @Test("of a phone that is there everything is shown, and an order answers what happened")
  func online() throws {
    phone.connect()
    #expect(try lab.get(path)["online"].bool == true)
    let answer = try post("settings", #"{"lowPower":true}"#)
    #expect(answer.status == 200)
    #expect(text(answer) == #"{"events":[\#(FakePhone.event("settings"))]}"#)
    #expect(phone.orders.map(\.order.text) == [#"{"do":"settings","lowPower":true}"#])
    #expect(try lab.get(path)["log"].count == 1)
  }

  @Test("nobody's phone, one that never came, and somebody else's client: each has a sentence")
  func refusals() throws {
    #expect(try lab.refusal("GET", "/api/v1/devices/nobody/phone", 404).contains("nobody"))
    _ = try lab.refusal("POST", "/api/v1/devices/nobody/phone/close", 404, json: "{}")
    #expect(try lab.refusal("GET", path, 409).contains("has not been connected"))
    #expect(try lab.refusal("POST", "\(path)/close", 409, json: "{}").contains("is offline"))
    _ = try lab.connect()
    #expect(try lab.refusal("GET", path, 409).contains("a client that has no phone"))
    #expect(
      try lab.refusal("POST", "\(path)/settings", 409, json: "{}").contains("a client that has no phone"))
  }

  @Test("what a phone would not understand does not get there; what it refuses comes back as it says it")
  func wrong() throws {
    phone.connect()
    #expect(try lab.refusal("POST", "\(path)/fly", 404, json: "{}").contains("fly"))
    _ = try lab.refusal("POST", "\(path)/settings", 400, json: "[]")
    #expect(phone.orders.isEmpty)
    phone.manner = .refuses("there is no such note")
    #expect(try lab.refusal("POST", "\(path)/tap", 400, json: #"{"id":1}"#) == "there is no such note")
    let long = String(repeating: "x", count: PhoneQueue.byteLimit)
    _ = try lab.refusal("POST", "\(path)/settings", 413, json: #"{"language":"\#(long)"}"#)
  }

  @Test("settings wait for a phone that is offline")
  func queued() throws {
    phone.connect()
    phone.disconnect()
    let answer = try post("settings", #"{"lowPower":true}"#)
    #expect(answer.status == 202 && text(answer) == #"{"queued":true}"#)
    #expect(try lab.get(path)["queued"].text == #"{"lowPower":true}"#)
    phone.connect()
    #expect(phone.orders.map(\.order.text) == [#"{"do":"settings","lowPower":true}"#])
  }

  @Test("a phone that goes away before it has answered is a conflict, one that never does a timeout")
  func unanswered() throws {
    phone.manner = .waits
    phone.connect()
    let first = try lab.open("POST", "\(path)/close", json: "{}")
    #expect(first.response == nil)
    phone.disconnect()
    #expect(first.response?.status == 409)
    phone.connect()
    let second = try lab.open("POST", "\(path)/close", json: "{}")
    lab.timers.pass(milliseconds: 4999)
    #expect(second.response == nil)
    lab.timers.pass(milliseconds: 1)
    #expect(second.response?.status == 504)
    #expect(!phone.answer(try #require(phone.orders.last).number), "nobody waits any more")
    #expect(lab.timers.count == 0)
  }

  @Test("a client that goes leaves nothing behind")
  func goneClient() throws {
    phone.manner = .waits
    phone.connect()
    let answer = try lab.open("POST", "\(path)/close", json: "{}")
    answer.exchange?.clientGone()
    #expect(lab.timers.count == 0)
    #expect(!phone.answer(try #require(phone.orders.last).number))
  }

  // MARK: What else hears of it

  private func push() throws -> UInt64 {
    try lab.push(lab.install().bytes, #"{"aps":{"alert":"Hello"}}"#)
  }

  @Test("the push's timeline tells what the phone has made of it, and no other phone has a say in it")
  func timeline() throws {
    let id = try push()
    phone.connect()
    phone.tell([FakePhone.event("presented", of: id, detail: "list"), FakePhone.event("sound", of: 99)])
    let other = FakePhone(lab.parts.phones, try #require(UDID("other")))
    other.connect()
    other.tell([FakePhone.event("callback", of: id)])
    let steps = try lab.get("/api/v1/notifications/\(id)")["timeline"].elements
    #expect(steps.suffix(2).first?["event"].string != "presented")
    let last = try #require(steps.last)
    #expect(last.names == ["at", "event", "detail", "rule", "evidence", "reason"])
    #expect(last["event"].string == "presented" && last["detail"].string == "list")
    #expect(last["rule"].string == "system-shows" && last["reason"].string == "so it is")
  }

  @Test("a client may wait until a push was presented, and is told what the phone did instead if it was not")
  func wait() throws {
    let id = try push()
    let match = #"{"match": {"udid": "phone", "phone": "presented"}, "timeoutMs": 100}"#
    phone.connect()
    let early = try lab.open("POST", "/api/v1/notifications/wait", json: match)
    lab.endTurn()
    phone.tell([FakePhone.event("held", of: id)])
    lab.endTurn()
    #expect(early.response == nil)
    lab.timers.pass(milliseconds: 100)
    let missed = try lab.whole(early)
    #expect(missed.status == 408)
    let failed = try #require(JSONReader.read(missed.body))["nearMisses"][0]["failed"][0]
    #expect(failed.text == #"{"filter":"phone","expected":"presented","actual":["held"]}"#)
    let later = try lab.open("POST", "/api/v1/notifications/wait", json: match)
    lab.endTurn()
    phone.tell([FakePhone.event("presented", of: id)])
    #expect(later.response == nil, "not before the end of the turn")
    lab.endTurn()
    #expect(later.response?.status == 200)
    #expect(try lab.get("/api/v1/notifications?phone=presented")["notifications"].count == 1)
    #expect(try lab.refusal("GET", "/api/v1/notifications?phone=Presented!", 400).contains("Presented!"))
    let both = #"{"match": {"state": "stored", "phone": "presented"}}"#
    #expect(try lab.ask("POST", "/api/v1/notifications/wait", json: both).status == 200)
  }

  @Test(
    "the stream of events tells of some by name, of the others as phone, and of a phone that is another one")
  func stream() throws {
    phone.connect()
    let stream = try lab.open("GET", "/api/v1/events")
    phone.tell(["presented", "callback", "extension", "dropped", "held"].map { FakePhone.event($0) })
    phone.tell()
    phone.document = #"{"iosVersion":"17"}"#
    phone.tell()
    lab.endTurn()
    lab.timers.pass(milliseconds: 50)
    for _ in 0..<10 { lab.turn() }
    let names = stream.streamed.split(separator: "\n").filter { $0.hasPrefix("event: ") }.map {
      $0.dropFirst(7)
    }
    #expect(names == ["boot", "presented", "callback", "extension", "dropped", "phone", "phone"])
    let lines = stream.streamed.split(separator: "\n").filter { $0.hasPrefix("data: ") }
      .compactMap { JSONReader.read(Array($0.dropFirst(6).utf8)) }
    #expect(lines[1]["udid"].string == "phone" && lines[1]["rule"].string == "system-shows")
    #expect(lines[1]["event"].string == "presented" && lines[1]["change"].isNull)
    #expect(lines[5]["change"].string == "held" && lines[6]["change"].string == "document")
  }

  @Test("a reset of devices forgets phones, one of notifications what was told of them")
  func reset() throws {
    let id = try push()
    phone.connect()
    phone.tell([FakePhone.event("presented", of: id)])
    _ = try lab.ask("POST", "/api/v1/reset", json: #"{"what":["notifications"]}"#)
    #expect(try lab.get(path)["log"].count == 0)
    _ = try lab.ask("POST", "/api/v1/reset", json: #"{"what":["devices"]}"#)
    try lab.install()
    #expect(try lab.refusal("GET", path, 409).contains("has not been connected"))
  }
}
