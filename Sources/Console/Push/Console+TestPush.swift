import Broker
import PushModel
import Transport

extension Console {
  private static let memberNames = [
    "protocol", "token", "topic", "environment", "payload", "payloadBase64", "pushType", "priority",
    "expiration",
    "collapseId", "apnsId", "command", "identifier",
  ]

  /// `POST /api/v1/push`: answers 200 with the notification, whose verdict says whether it was accepted, and which fault
  /// struck it.
  func sendTestPush(_ request: ConsoleRequest, _ exchange: HTTPExchange) throws {
    try request.query().finish()
    let body = try request.object(allowing: Self.memberNames)
    let push = try testPush(body)
    guard let send = context.sendTest else {
      throw ConsoleError.unavailable("test pushes are not part of this run")
    }
    send(push) { [unowned self] id in exchange.respond(finished(sentTestPush(id))) }
  }

  private func sentTestPush(_ id: UInt64) -> HTTPResponse {
    guard let record = broker.journal[id] else {
      return ConsoleError.conflict("the history is too short to keep the notification").response
    }
    return HTTPResponse(json: NotificationDocument(broker: broker).whole(record))
  }

  private func testPush(_ body: JSONObject) throws -> TestPush {
    var push = TestPush(
      token: try Self.token(body), topic: try Self.topic(body), environment: try environment(body))
    if let word = try body.string("protocol") {
      guard let form = TestPush.Form(rawValue: word) else {
        throw ConsoleError.bad("protocol", expected: "http2 or legacy", got: word)
      }
      push.form = form
    }
    push.payload = try Self.payload(body)
    push.priority = try body.integer("priority", 0...255).map(UInt8.init)
    push.expiration = try body.integer("expiration", 0...Int64(UInt32.max)).map(UInt32.init)
    push.collapseID = try body.string("collapseId")
    push.apnsID = try body.string("apnsId")
    push.command = try body.integer("command", 0...2).map(UInt8.init) ?? 2
    push.identifier = try body.integer("identifier", 0...Int64(UInt32.max)).map(UInt32.init) ?? 0
    if let word = try body.string("pushType") {
      guard let type = PushType(name: word) else {
        throw ConsoleError.bad(
          "pushType", expected: "one of \(PushType.allCases.map(\.name).joined(separator: ", "))", got: word)
      }
      push.pushType = type
    }
    return push
  }

  private static func token(_ body: JSONObject) throws -> [UInt8] {
    let text = try body.string("token") ?? ""
    guard let token = Hex.decode(text), (1...Limits.longestToken).contains(token.count) else {
      throw ConsoleError.bad("token", expected: "2 to 200 hexadecimal digits", got: text)
    }
    return token
  }

  private static func topic(_ body: JSONObject) throws -> Topic {
    let text = try body.string("topic") ?? ""
    guard let topic = Topic(text) else {
      throw ConsoleError.bad("topic", expected: "a bundle id, as com.example.app", got: text)
    }
    return topic
  }

  private func environment(_ body: JSONObject) throws -> Environment {
    guard let text = try body.string("environment") else { return context.environment }
    guard let environment = Environment(name: text) else {
      throw ConsoleError.bad("environment", expected: "sandbox or production", got: text)
    }
    return environment
  }

  /// The payload's JSON, or bytes that need not be JSON.
  private static func payload(_ body: JSONObject) throws -> [UInt8] {
    guard let text = try body.string("payloadBase64") else { return body["payload"]?.encoded ?? [] }
    guard body["payload"] == nil, let bytes = Base64.decode(text.utf8) else {
      throw ConsoleError.badRequest("payloadBase64: expected Base64, and no payload beside it")
    }
    return bytes
  }
}
