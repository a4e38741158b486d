import Basics
import Broker
import ConsoleAnswers
import PushModel
import Transport

/// The token map, and what hangs on it.
package struct TokenGroup: RouteGroup {
  /// What a token is the HMAC of, field by field.
  package typealias Explanation = (Environment, UDID, TopicHash, _ install: Int32, TokenContext?) -> [(
    field: String, bytes: [UInt8]
  )]

  private let broker: Broker
  private let environment: Environment
  private let explain: Explanation
  private var registry: Registry { broker.registry }

  /// `environment`: where a request does not say which one it means.
  package init(_ broker: Broker, _ environment: Environment, explain: @escaping Explanation) {
    (self.broker, self.environment, self.explain) = (broker, environment, explain)
  }

  package var routes: [Route] {
    [
      .get(
        "/api/v1/tokens", "The table UDID, topic, environment → token, oldest first",
        .document(listTokens)
      )
      .query([.udid, .topic, .app, .deviceToken, .tokenState, .environment] + RouteParameter.page)
      .answers(200, "Rows of the table", .list("tokens", of: TokenDocument.schema)),
      .get(
        "/api/v1/tokens/{token}", "One row of the table, with the derivation of its token", .json(showToken)
      )
      .answers(200, "The row with its derivation", TokenDetail.schema),
      .put(
        "/api/v1/tokens/{token}", "Gives an app on a device, which may be new, a custom device token",
        .answer(chooseToken)
      )
      // It changes the token map.
      .atLeader(of: .udidOfBody).needs(TokenClaim.schema).refuses(409)
      .answers(200, "The row, which was there before", TokenDocument.schema)
      .answers(201, "The new row", TokenDocument.schema),
      .get("/api/v1/channels", "Broadcast channels", .document(listChannels))
        .answers(200, "Channels", .list("channels", of: ChannelDocument.schema)),
      .get(
        "/api/v1/feedback", "The entries of the feedback service, without clearing them",
        .document(listFeedback)
      )
      .query([.topic])
      .answers(200, "Entries, oldest first", .list("feedback", of: FeedbackDocument.schema)),
    ]
  }

  /// `GET /api/v1/tokens`
  private func listTokens(_ request: ConsoleRequest) throws -> GrowingDocument {
    let (filter, page) = try request.query { (try TokenFilter(&$0), try Page(&$0)) }
    let isWanted = { (row: RegistrationID) in filter.matches(row, registry) }
    let make = { (row: RegistrationID) in GrowingDocument.Element.value(TokenDocument(row, registry).json) }
    if let few = filter.candidates(registry) {
      return page.document("tokens", few, of: registry, where: isWanted, make)
    }
    let all = RegistrationID.rows(from: page.start, below: registry.registrationCount)
    return page.document("tokens", all, of: registry, where: isWanted, make)
  }

  /// `GET /api/v1/tokens/{token}`
  private func showToken(_ request: ConsoleRequest) throws -> TokenDetail {
    guard let row = registry.find(try namedToken(request)) else {
      throw ConsoleError.notFound("no device has been given this token")
    }
    return detail(row)
  }

  /// `PUT /api/v1/tokens/{token}`: a token of the user's own choosing.
  private func chooseToken(_ request: ConsoleRequest) throws -> HTTPResponse {
    let token = try namedToken(request)
    let claim = try TokenClaim(request.object(), environment: environment)
    let device = try registry.newOrKnownDevice(claim.udid, request.now)
    let topic = try registry.newOrKnownTopic(claim.topic)
    let outcome = broker.apps.adopt(
      token, device: device, topic: topic, environment: claim.environment, now: request.now)
    switch outcome {
    case .registered(let row): return shown(row, status: 201)
    case .same(let row): return shown(row)
    case .taken(let row):
      let owner = registry[row]
      throw ConsoleError.conflict(
        "token \(token.hex) is that of \(registry[owner.topic].label) on "
          + "\(registry[owner.device].udid) in \(owner.environment.name)")
    case .full where registry.customCount >= registry.customLimit:
      throw ConsoleError.full("custom device tokens", limit: registry.customLimit)
    case .full: throw registry.noRoom(device)
    }
  }

  private func shown(_ row: RegistrationID, status: Int = 200) -> HTTPResponse {
    HTTPResponse(status: status, json: TokenDocument(row, registry).json)
  }

  /// The token that the path names.
  private func namedToken(_ request: ConsoleRequest) throws -> CustomToken {
    try JSONKind.customToken.read(.string(request.part("token")), "token")
  }

  private func detail(_ row: RegistrationID) -> TokenDetail {
    let registration = registry[row]
    let (udid, hash) = (registry[registration.device].udid, registry[registration.topic].hash)
    let part = registry.context(of: row)
    let message = explain(registration.environment, udid, hash, registration.install, part)
    let derived = registry.derivedToken(
      udid, hash, registration.environment, install: registration.install, context: part)
    return TokenDetail(
      row: TokenDocument(row, registry), isOurs: derived == registration.token, message: message)
  }

  /// `GET /api/v1/channels`, in the order in which they were made.
  private func listChannels(_ request: ConsoleRequest) -> GrowingDocument {
    GrowingDocument([
      .list("channels", of: broker.channels.rowNumbers) { row in
        broker.channels.key(row).map { .value(ChannelDocument(key: $0, broker: broker).json) } ?? .nothing
      }
    ])
  }

  /// `GET /api/v1/feedback`: what waits when it is asked for.
  private func listFeedback(_ request: ConsoleRequest) throws -> GrowingDocument {
    let topic = try request.query { $0.text("topic") }
    let areThere = registry.holdsRows
    var (rows, foreign) = (
      broker.feedback.rows.makeIterator(), broker.feedback.foreign.entries.makeIterator()
    )
    let isWanted = { (id: TopicID) in topic == nil || registry[id].label == topic }
    let shown = { (entry: FeedbackDocument) in GrowingDocument.Element.value(entry.json) }
    return GrowingDocument([
      .list("feedback") { _ in
        if areThere(), let row = rows.next() {
          return isWanted(registry[row].topic) ? shown(FeedbackDocument(row, registry)) : .nothing
        }
        guard let entry = foreign.next() else { return .end }
        return isWanted(entry.topic) ? shown(FeedbackDocument(entry, registry)) : .nothing
      }
    ])
  }
}

/// A row of the token map, and how its token comes to be (`Documentation/credentials.md#device-tokens`). The key stays a
/// secret.
struct TokenDetail: JSONAnswer {
  let row: TokenDocument
  /// A saved state may bring a token that another secret gave.
  let isOurs: Bool
  let message: [(field: String, bytes: [UInt8])]

  static let shape = JSONShape<TokenDetail>(
    TokenDocument.shape.of(\.row) + ["derivation": .show(as: derivation) { $0 }]
  ).named("TokenDetail")

  private static let derivation: JSONShape<TokenDetail> = [
    "isOurs": .show(true) { $0.isOurs }, "function": .show("HMAC-SHA256") { _ in "HMAC-SHA256" },
    "key": .show(.string(key)) { _ in key }, "message": .list(of: field) { $0.message },
  ]

  private static let key = "the token secret of this emulator"
  private static let field = JSONShape<(field: String, bytes: [UInt8])>([
    "field": .show("udid") { $0.field }, "hex": .show("70686f6e652d31") { Hex.encode($0.bytes) },
  ])
}

/// What `PUT /api/v1/tokens/{token}` takes: whose the token is to be.
struct TokenClaim: JSONDocument {
  var udid: UDID
  var topic: Topic
  var environment: Environment

  static let form = JSONForm<TokenClaim>([
    JSONField("udid", .udid, \.udid).needed, JSONField("topic", .topic, \.topic).needed,
    JSONField("environment", .environment, \.environment),
  ])
  static let schema = JSONSchema(
    "TokenClaim", form.schema, example: ["udid": JSONExample.udid, "topic": JSONExample.topic])

  /// `environment` is meant where it does not say.
  init(_ object: JSONObject, environment: Environment) throws {
    (udid, topic) = (try object.required("udid", .udid), try object.required("topic", .topic))
    self.environment = environment
    try Self.form.read(object, into: &self)
  }
}

/// What rows of the token map a request is about.
private struct TokenFilter {
  private var udid: String?
  private var topic: String?
  /// The bundle id, and it with each suffix of a push type.
  private var family: Set<String>?
  private var token: CustomToken?
  private var state: TokenDocument.State?
  private var environment: Environment?

  init(_ query: inout QueryReader) throws {
    (udid, topic) = (query.text("udid"), query.text("topic"))
    if let app = query.text("app") { family = Set((Topic(app)?.suffixed.map(\.name) ?? []) + [app]) }
    token = try query.value("token", .customToken)
    state = try query.value("state", .word)
    environment = try query.environment()
  }

  /// Few rows where an index can tell them, in order of issue; nil where it can't.
  func candidates(_ registry: Registry) -> [RegistrationID]? {
    if let token { return registry.find(token).map { [$0] } ?? [] }
    if let udid {
      return UDID(udid).flatMap(registry.knownDevice).map { registry.registrations(of: $0).reversed() } ?? []
    }
    return nil
  }

  func matches(_ row: RegistrationID, _ registry: Registry) -> Bool {
    let registration = registry[row]
    return (udid == nil || registry[registration.device].udid.text == udid)
      && (topic == nil || registry[registration.topic].label == topic)
      && family?.contains(registry[registration.topic].label) != false
      && (state == nil || TokenDocument.state(registration) == state)
      && (environment == nil || registration.environment == environment)
  }
}
