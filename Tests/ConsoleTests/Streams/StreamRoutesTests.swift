import Basics
import Broker
import Testing
import Transport
import WaysIn

import Console

@Suite("Routes of device streams") struct StreamRoutesTests {
  private let streams = FakeStreams()
  private let lab: ConsoleLab

  init() {
    let streams = streams
    lab = ConsoleLab { $0.streams = streams }
  }

  @Test("the query says which apps, where, and when something counts as delivered")
  func order() throws {
    _ = try lab.open("GET", "/api/v1/devices/phone-1/stream")
    _ = try lab.open(
      "GET", "/api/v1/devices/p/stream?topic=a.b&environment=production&topic=c&topic=a.b&ack=explicit")
    try #require(streams.orders.count == 2)
    #expect(streams.orders[0].udid.text == "phone-1" && streams.orders[0].topics.isEmpty)
    #expect(streams.orders[0].environment == .sandbox && !streams.orders[0].isExplicit)
    #expect(streams.orders[1].topics.map(\.name) == ["a.b", "c"])
    #expect(streams.orders[1].environment == .production && streams.orders[1].isExplicit)
  }

  @Test("what can't be a stream is refused before it begins")
  func refused() throws {
    for query in [
      "topic=", "topic=a%20b", "ack=never", "environment=moon", "x=1", "ack=explicit&ack=explicit",
    ] {
      _ = try lab.refusal("GET", "/api/v1/devices/phone-1/stream?\(query)", 400)
    }
    #expect(streams.orders.isEmpty)
    streams.refusal = .busy("7 device streams are open already")
    #expect(try lab.refusal("GET", "/api/v1/devices/phone-1/stream", 503).contains("7"))
    streams.refusal = .full("tokens", limit: 8)
    #expect(try lab.refusal("GET", "/api/v1/devices/phone-1/stream", 409).contains("8"))
  }

  @Test("other people's pages can't be a device, and neither can who has no access")
  func guarded() throws {
    let foreign = try lab.ask(
      "GET", "/api/v1/devices/phone-1/stream", fields: [HTTPField("Origin", "https://evil.example")])
    #expect(foreign.status == 403 && streams.orders.isEmpty)
    let streams = streams
    let closed = ConsoleLab {
      $0.streams = streams
      $0.accessToken = "secret"
    }
    for (method, path) in [("GET", "stream"), ("POST", "stream/ack")] {
      #expect(try closed.ask(method, "/api/v1/devices/phone-1/\(path)").status == 401)
    }
  }

  @Test("acknowledging names notifications of a device with a stream")
  func acknowledge() throws {
    let path = "/api/v1/devices/phone-1/stream/ack"
    _ = try lab.refusal("POST", path, 404, json: #"{"ids":[1]}"#)
    try lab.install("phone-1")
    try lab.install("phone-2")
    let answer = try lab.ask("POST", path, json: #"{"ids":[1,2]}"#)
    #expect(String(decoding: answer.body, as: UTF8.self) == #"{"acknowledged":2}"#)
    #expect(streams.acknowledged == [1, 2])
    _ = try lab.refusal("POST", "/api/v1/devices/phone-2/stream/ack", 409, json: #"{"ids":[1]}"#)
    for body in ["{}", #"{"ids":1}"#, #"{"ids":[-1]}"#, #"{"ids":["1"]}"#, #"{"ids":[1],"x":1}"#] {
      _ = try lab.refusal("POST", path, 400, json: body)
    }
  }

  @Test("a console that is full still takes streams, whose connections it does not count")
  func onReserve() throws {
    let answer = try lab.open("GET", "/api/v1/devices/phone-1/stream", isOnReserve: true)
    #expect(answer.response?.status != 503 && streams.orders.count == 1)
    let other = try lab.open("GET", "/api/v1/devices", isOnReserve: true)
    #expect(other.response?.status == 503)
  }
}
