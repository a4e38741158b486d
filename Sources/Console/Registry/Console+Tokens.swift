import Broker
import PushModel
import Transport

extension Console {
  /// `GET /api/v1/tokens`
  func listTokens(_ request: ConsoleRequest) throws -> HTTPResponse {
    var query = try request.query()
    let filter = try TokenFilter(&query)
    let page = try Page(&query)
    try query.finish()
    let document = RegistryDocument(broker: broker)
    let registry = broker.registry
    let (rows, next) = page.take(
      filter.candidates(registry), where: { filter.matches($0, registry) }, document.token)
    return HTTPResponse(json: ["tokens": rows, "next": next])
  }

  /// `GET /api/v1/feedback`
  func listFeedback(_ request: ConsoleRequest) throws -> HTTPResponse {
    var query = try request.query()
    let topic = query.text("topic")
    try query.finish()
    let registry = broker.registry
    let rows = broker.allFeedback.filter { row in
      topic == nil || registry.topics[Int(registry[registration: row].topic)].label == topic
    }
    let document = RegistryDocument(broker: broker)
    return HTTPResponse(json: ["feedback": .array(rows.map(document.feedback))])
  }
}

/// What rows of the token map a request is about.
private struct TokenFilter {
  private var udid: String?
  private var topic: String?
  private var token: DeviceToken?
  private var state: String?
  private var environment: Environment?

  init(_ query: inout QueryReader) throws {
    (udid, topic) = (query.text("udid"), query.text("topic"))
    if let text = query.text("token") {
      token = DeviceToken(hex: text)
      guard token != nil else {
        throw ConsoleError.bad("token", expected: "64 hexadecimal digits", got: text)
      }
    }
    state = try query.choice("state", ["active", "gone"])
    environment = try query.environment()
  }

  /// Few rows where an index can tell them, in order of issue.
  func candidates(_ registry: Registry) -> [Int32] {
    if let token { return registry.find(token).map { [$0] } ?? [] }
    if let udid {
      return UDID(udid).flatMap(registry.knownDevice).map { registry.registrations(of: $0).reversed() } ?? []
    }
    return Array(0..<Int32(registry.registrationCount))
  }

  func matches(_ row: Int32, _ registry: Registry) -> Bool {
    let registration = registry[registration: row]
    return (udid == nil || registry.devices[Int(registration.device)].udid.text == udid)
      && (topic == nil || registry.topics[Int(registration.topic)].label == topic)
      && (state == nil || RegistryDocument.state(registration) == state)
      && (environment == nil || registration.environment == environment)
  }
}
