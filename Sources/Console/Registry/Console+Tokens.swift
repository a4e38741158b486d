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

  /// `GET /api/v1/tokens/{token}`
  func showToken(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    let text = request.part("token")
    guard let token = DeviceToken(hex: text) else {
      throw ConsoleError.bad("token", expected: "64 hexadecimal digits", got: text)
    }
    guard let row = broker.registry.find(token) else {
      throw ConsoleError.notFound("no device has been given this token")
    }
    let document = RegistryDocument(broker: broker)
    guard case .object(let members) = document.token(row) else {
      return HTTPResponse(json: document.token(row))
    }
    return HTTPResponse(json: .object(members + [("derivation", derivation(row))]))
  }

  /// How the token comes to be (`design.md`, Identity). The key stays a secret.
  private func derivation(_ row: Int32) -> JSONValue {
    let registration = broker.registry[registration: row]
    let (udid, hash) = (
      broker.registry.devices[Int(registration.device)].udid,
      broker.registry.topics[Int(registration.topic)].hash
    )
    let message = context.explainToken?(registration.environment, udid, hash, registration.install)
    let derived = broker.registry.derivedToken(
      udid, hash, registration.environment, install: registration.install)
    return [
      // A saved state may bring a token that another secret gave.
      "isOurs": .bool(derived == registration.token),
      "function": "HMAC-SHA256", "key": "the token secret of this emulator",
      "message": .array(
        (message ?? []).map { ["field": .string($0.field), "hex": .string(Hex.encode($0.bytes))] }),
    ]
  }

  /// `GET /api/v1/channels`
  func listChannels(_ request: ConsoleRequest) throws -> HTTPResponse {
    try request.query().finish()
    let channels = broker.channels
    return HTTPResponse(json: [
      "channels": .array(
        channels.keys.map { key in
          [
            "topic": .string(broker.registry.topics[Int(key.topic)].label),
            "environment": .string(key.environment.name), "id": .string(Base64.encode(key.id)),
            "storesNewest": .bool(channels.storesNewest(key) ?? false),
            "listeners": .integer(Int64(channels.listenerCount(key))),
            "newestAt": .optional(channels.newest(key)?.sentAt),
          ]
        })
    ])
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
    let foreign = broker.foreignFeedback.entries.filter { entry in
      topic == nil || registry.topics[Int(entry.topic)].label == topic
    }
    let document = RegistryDocument(broker: broker)
    return HTTPResponse(
      json: ["feedback": .array(rows.map(document.feedback) + foreign.map(document.feedback))])
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
