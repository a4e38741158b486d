import Basics
import Testing
import Transport

import Console

@Suite struct RoutingTests {
  @Test("A path that is not there is 404, a method that is not is 405 with those that are")
  func unrouted() throws {
    let lab = ConsoleLab()
    #expect(try lab.refusal("GET", "/api/v2/info", 404).contains("/api/v2/info"))
    #expect(try lab.refusal("GET", "/api/v1/devices/a/b", 404).contains("/api/v1/devices/a/b"))
    let response = try lab.ask("POST", "/api/v1/notifications")
    #expect(response.status == 405)
    #expect(response.field("allow") == "DELETE, GET, HEAD, OPTIONS")
    #expect(try lab.ask("GET", "/api/v1/notifications/wait").field("allow") == "OPTIONS, POST")
  }

  @Test("HEAD is answered as GET, OPTIONS names the methods")
  func headAndOptions() throws {
    let lab = ConsoleLab()
    #expect(try lab.ask("HEAD", "/livez").status == 200)
    let options = try lab.ask("OPTIONS", "/livez")
    #expect(options.status == 204 && options.field("allow") == "GET, HEAD, OPTIONS")
  }

  @Test(
    "When every connection is taken, health, info and metrics are answered, and all else is told to come again"
  )
  func full() throws {
    let lab = ConsoleLab()
    for path in ["/livez", "/readyz", "/metrics", "/api/v1/info"] {
      #expect(try lab.open("GET", path, isOnReserve: true).response?.status == 200, "\(path)")
      #expect(try lab.open("HEAD", path, isOnReserve: true).response?.status == 200, "\(path)")
    }
    let others = [
      ("GET", "/"), ("GET", "/api/v1/notifications"), ("GET", "/api/v1/events"), ("GET", "/nowhere"),
      ("POST", "/api/v1/notifications/wait"), ("POST", "/3/device/ab"),
    ]
    for (method, path) in others {
      let response = try #require(try lab.open(method, path, isOnReserve: true).response, "\(path)")
      #expect(response.status == 503 && response.field("retry-after") == "1", "\(path)")
      let error = try #require(JSONReader.read(response.body)?.member("error"))
      #expect(error.string("code") == "unavailable")
      #expect(error.string("message")?.contains("every connection of the console is in use") == true)
    }
  }

  @Test("A misspelt query name is refused with those that exist")
  func unknownQuery() throws {
    let lab = ConsoleLab()
    let message = try lab.refusal("GET", "/api/v1/notifications?topci=a", 400)
    #expect(message.contains("topic") && message.contains("\"topci\""))
    _ = try lab.refusal("GET", "/api/v1/notifications?topic=a&topic=b", 400)
    _ = try lab.refusal("GET", "/api/v1/info?x", 400)
  }

  @Test("A body that is not an object, or has other members, is refused")
  func badBodies() throws {
    let lab = ConsoleLab()
    try lab.install()
    for body in ["[]", "{", "{} {}", "nonsense", "{\"force\": true}"] {
      _ = try lab.refusal("POST", "/api/v1/devices/phone/erase", 400, json: body)
    }
  }

  @Test("A body that nests too deep, or is no JSON, is told so; what is just not too deep is read")
  func depth() throws {
    let lab = ConsoleLab()
    func body(_ levels: Int) -> String {
      let payload = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
      return #"{"token": "ab", "topic": "com.example.app", "payload": \#(payload)}"#
    }
    let deepest = JSONObject.bodyDepth
    #expect(
      try lab.refusal("POST", "/api/v1/push", 400, json: body(deepest + 1)).contains("\(deepest) levels"))
    // Read, and refused for another reason: nothing was sent.
    _ = try lab.refusal("POST", "/api/v1/push", 409, json: body(deepest))
    let message = try lab.refusal("POST", "/api/v1/push", 400, json: "token=ab")
    #expect(message.contains("expected a JSON object") && message.contains("token=ab"))
    #expect(
      try lab.refusal("POST", "/api/v1/push", 400, json: "[7]").hasSuffix(
        "expected a JSON object, got a list of 1"))
  }

  @Test("Every answer forbids guessing its type and keeping it")
  func headers() throws {
    let response = try ConsoleLab().ask("GET", "/livez")
    #expect(response.field("x-content-type-options") == "nosniff")
    #expect(response.field("cache-control") == "no-store")
  }

  @Test("Readiness follows the emulator, with a reason")
  func readiness() throws {
    let lab = ConsoleLab { $0.unreadiness = { "draining" } }
    #expect(try lab.refusal("GET", "/readyz", 503) == "draining")
    #expect(try ConsoleLab().ask("GET", "/readyz").status == 200)
  }

  @Test("Info has the emulator's members, the time and the counters")
  func info() throws {
    let lab = ConsoleLab {
      $0.info = {
        var info = EmulatorInfo()
        info.version = "1.0"
        return info
      }
    }
    try lab.push(try lab.install().bytes, "{}")
    let info = try lab.get("/api/v1/info")
    #expect(info["version"].string == "1.0")
    #expect(info["now"].string == "2026-01-02T03:04:05.000Z")
    #expect(info["counters"]["received"].integer == 1)
    #expect(info["counters"]["tokens"].integer == 1)
  }

  @Test("Activation and provider requests get their bytes and give theirs")
  func peers() throws {
    let lab = ConsoleLab {
      $0.activate = { exchange, reply in
        reply(HTTPResponse(status: 201, body: exchange.request.body.reversed()))
        return true
      }
      $0.push = { exchange, reply in
        reply(HTTPResponse(text: "\(exchange.request.method) \(exchange.request.path)"))
      }
    }
    let answer = try lab.open("POST", "/deviceservices/deviceActivation", body: [1, 2, 3])
    #expect(answer.response?.status == 201 && answer.response?.body == [3, 2, 1])
    for (method, path) in [("POST", "/3/device/ab"), ("GET", "/3/device/ab"), ("POST", "/3/device")] {
      let response = try lab.ask(method, path)
      #expect(String(decoding: response.body, as: UTF8.self) == "\(method) \(path)")
    }
    _ = try ConsoleLab().refusal("POST", "/deviceservices/deviceActivation", 503)
  }
}
