import Basics
import ClusterRouter
import Console
import PushModel
import Testing
import Transport

/// What has a device, or a token of one, in its body.
private struct PushGroup: RouteGroup {
  var routes: [Route] {
    [
      Route("POST", "/api/v1/push", "", .answer { _ in HTTPResponse(status: 200) }).atLeader(
        of: .tokenOrUDIDOfBody
      )
      .needs(.emptyObject)
    ]
  }
}

@Suite("Requests for devices of other nodes") struct OtherConsolesTests {
  private let others = FakeConsoles()
  private let lab: RouterLab

  init() {
    lab = RouterLab(others, accessToken: "secret", [PushGroup()])
    others.places = ["far": .at("b"), "lost": .nowhere]
  }

  private let access = [HTTPField("Authorization", "Bearer secret")]

  /// A request of another node, which has made the checks of who may ask.
  private func askAsNode(_ method: String, _ target: String) throws -> HTTPResponse {
    try lab.ask(method, target, ofNode: true)
  }

  private func refusal(_ target: String, _ status: Int, fields: [HTTPField]) throws {
    let response = try lab.ask("GET", target, fields: fields)
    #expect(response.status == status && JSONReader.read(response.body)?.member("error") != nil)
  }

  @Test("whatever has a device in its path is passed on to the device's node")
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
    #expect(count >= 8 && others.questions.count == count)
    #expect(others.questions.allSatisfy { $0.device?.text == "far" && $0.node == "b" && $0.timeout == nil })
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
    let count = others.questions.count
    for target in [
      "/api/v1/devices", "/api/v1/tokens", "/api/v1/tokens/\(token.hex)", "/api/v1/devices/near",
    ] {
      #expect(try lab.ask("GET", target, fields: access).status == 200, "\(target)")
    }
    for body in ["{}", "[]", #"{"udid":7}"#, #"{"udid":"a b","topic":"a.b"}"#] {
      #expect(try lab.ask("PUT", "/api/v1/tokens/abcd", json: body, fields: access).status == 400)
    }
    #expect(others.questions.count == count)
  }

  @Test("who may not ask here is not passed on, and a node has been asked already who may")
  func mayAsk() throws {
    _ = try lab.install("near")
    #expect(try lab.ask("GET", "/api/v1/devices/far").status == 401)
    try refusal("/api/v1/devices/far", 403, fields: [HTTPField("Host", "evil.com")])
    #expect(others.questions.isEmpty)
    #expect(try askAsNode("GET", "/api/v1/devices/near").status == 200)
  }

  @Test("a device that nobody has, or that has just moved, is a reason to come again")
  func nobody() throws {
    let lost = try lab.ask("GET", "/api/v1/devices/lost", fields: access)
    #expect(lost.status == 503 && lost.field("retry-after") == "1")
    let moved = try askAsNode("GET", "/api/v1/devices/far")
    #expect(moved.status == 503 && moved.field("retry-after") == "1")
    #expect(others.questions.isEmpty)
  }
}
