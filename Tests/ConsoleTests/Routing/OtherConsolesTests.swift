import Basics
import Testing
import Transport

import Console

@Suite("Requests for devices of other nodes") struct OtherConsolesTests {
  private let others = FakeConsoles()
  private let lab: ConsoleLab

  init() {
    let others = others
    lab = ConsoleLab {
      $0.otherConsoles = others
      $0.accessToken = "secret"
    }
    others.places = ["far": .elsewhere, "lost": .nowhere]
  }

  private let access = [HTTPField("Authorization", "Bearer secret")]

  /// A request of another node.
  private func askAsNode(_ method: String, _ target: String) throws -> HTTPResponse {
    var request = try #require(
      HTTPRequest(method, target, fields: [HTTPField("Host", "node-a.example")], localPort: 1))
    request.isOfNode = true
    let answer = Answer()
    let exchange = HTTPExchange(request, outlet: answer)
    answer.exchange = exchange
    lab.console.handle(exchange)
    return try lab.whole(answer)
  }

  @Test("whatever has a device in its path is passed on to the device's node, streams as such")
  func paths() throws {
    let document = try #require(
      JSONReader.read(
        try lab.ask("GET", "/api/v1/openapi.json", fields: access).body, maximumDepth: 64))
    guard case .object(let paths)? = document.member("paths") else { throw CancellationError() }
    var count = 0
    for (path, methods) in paths where path.contains("{udid}") {
      guard case .object(let methods) = methods else { continue }
      let target = path.replacing("{udid}", with: "far").replacing("{topic}", with: "a.b").replacing(
        "{verb}", with: "tap")
      for method in methods.map(\.0) where ["get", "post", "put", "delete"].contains(method) {
        count += 1
        let response = try lab.ask(method.uppercased(), target, fields: access)
        #expect(response.body == Array("elsewhere".utf8), "\(method) \(path)")
      }
    }
    #expect(count >= 11 && others.asked.count == count)
    #expect(others.endless.count { $0 } == 1)
  }

  @Test("so is what names a device or its token in its body, and what is asked of all devices is not")
  func bodies() throws {
    let token = try lab.install("far")
    _ = try lab.install("near")
    let requests = [
      ("POST", "/api/v1/push", #"{"token":"\#(token.hex)","topic":"a.b"}"#),
      ("POST", "/api/v1/push", #"{"udid":"far","topic":"a.b"}"#),
      ("PUT", "/api/v1/tokens/abcd", #"{"udid":"far","topic":"a.b"}"#),
    ]
    for (method, target, body) in requests {
      let response = try lab.ask(method, target, json: body, fields: access)
      #expect(response.body == Array("elsewhere".utf8), "\(target) \(body)")
    }
    let count = others.asked.count
    for target in [
      "/api/v1/devices", "/api/v1/tokens", "/api/v1/tokens/\(token.hex)", "/api/v1/devices/near",
    ] {
      #expect(try lab.ask("GET", target, fields: access).status == 200, "\(target)")
    }
    for body in ["{}", "[]", #"{"udid":7}"#, #"{"udid":"a b","topic":"a.b"}"#] {
      #expect(try lab.ask("PUT", "/api/v1/tokens/abcd", json: body, fields: access).status == 400)
    }
    #expect(others.asked.count == count)
  }

  @Test("who may not ask here is not passed on, and a node has been asked already who may")
  func mayAsk() throws {
    _ = try lab.install("near")
    #expect(try lab.ask("GET", "/api/v1/devices/far").status == 401)
    #expect(try lab.refusal("GET", "/api/v1/devices/far", 403, fields: [HTTPField("Host", "evil.com")]) != "")
    #expect(others.asked.isEmpty)
    #expect(try askAsNode("GET", "/api/v1/devices/near").status == 200)
  }

  @Test("a device that nobody has, or that has just moved, is a reason to come again")
  func nobody() throws {
    let lost = try lab.ask("GET", "/api/v1/devices/lost", fields: access)
    #expect(lost.status == 503 && lost.field("retry-after") == "1")
    let moved = try askAsNode("GET", "/api/v1/devices/far")
    #expect(moved.status == 503 && moved.field("retry-after") == "1")
    #expect(others.asked.isEmpty)
  }
}
