import Basics
import Broker
import Phone
import PushModel
import Transport

/// Routes that belong together, with what answers them.
package protocol RouteGroup {
  var routes: [Route] { get }
  /// Ends what has begun, for an orderly end of the emulator.
  func shutDown()
}

extension RouteGroup {
  package func shutDown() {}
}

/// One row of the table of routes. The table answers requests and is the source of the OpenAPI document.
package struct Route {
  /// What a handler does with a request.
  package enum Action {
    /// Answers at once.
    case answer(Handler<HTTPResponse>)
    /// Answers with a document that may take many turns of the loop to write.
    case document(Handler<GrowingDocument>)
    /// Takes the exchange and answers later, or in a stream.
    case exchange((ConsoleRequest, HTTPExchange) throws -> Void)
  }

  /// A method of the group that the route is of.
  package typealias Handler<Answer> = (ConsoleRequest) throws -> Answer

  /// What a request carries.
  package enum Body {
    case none
    /// `application/json`.
    case json(isRequired: Bool, schema: () -> JSONSchema)
    /// Whatever a device or a provider sends.
    case any(contentType: String)
  }

  package var method: String
  package var pattern: PathPattern
  package var summary: String
  /// Made when the description is: at the start nobody reads it. Likewise the schemas of what goes in and comes out.
  package var parameters: () -> [RouteParameter] = { [] }
  /// Whether the query is the handler's to read; else there must be none.
  package var readsQuery = false
  package var body = Body.none
  package var bodyLimit = BodyLimit.usual
  /// Documented answers: status and meaning, with the schema of a JSON body.
  package var answers: [RouteAnswer] = []
  /// Statuses of this route's own refusals, besides those that `refusalStatuses` derives from what it takes.
  package var refusals: [Int] = []
  /// Writes and streams are not for other people's pages, so they get the Origin check.
  package var isStream = false
  /// Open to everybody who reaches the port: health checks, devices and providers prove themselves otherwise or not.
  package var isPublic = false
  /// Answered also when the console is full: it tells what is wrong. Never an exchange, so that it can't be held.
  package var isVital = false
  /// Answered also when the console is full: its connection leaves the number of those there may be, and is counted otherwise.
  package var isStanding = false
  /// A name, in lower case, by which this route alone may be asked: that of the service it stands in for.
  package var host: String?
  /// In a cluster: which device's node alone answers; nil where any node does, from what all of them know.
  package var leader: RouteLeader?
  /// In a cluster: every node does it, in one order for all.
  package var isOrdered = false
  /// What every node is asked for, where that is not what came.
  package var orderedBody: Handler<[UInt8]>?
  /// What each of them does then, at once and whole, where a request alone is answered later; nil for the action.
  package var orderedAnswer: Handler<HTTPResponse>?
  /// In a cluster: every node does its part of it.
  package var isSpread = false
  /// In a cluster: how the node that a client asks answers for all; without it, and asked by another node, each answers for itself.
  package var merge: ((Console) -> (ConsoleRequest, HTTPExchange, any OtherConsoles) throws -> Void)?
  /// Whether the OpenAPI document lists it.
  package var isDocumented = true
  package var action: Action

  package init(_ method: String, _ pattern: String, _ summary: String, _ action: Action) {
    (self.method, self.pattern, self.summary, self.action) = (method, PathPattern(pattern), summary, action)
  }

  /// What answers at once, if anything does.
  package var answerAtOnce: Handler<HTTPResponse>? {
    if let orderedAnswer { return orderedAnswer }
    if case .answer(let answer) = action { return answer }
    return nil
  }

  /// Does what the route is for, here.
  package func perform(_ request: ConsoleRequest, _ exchange: HTTPExchange, _ slices: SliceScheduler) throws {
    switch action {
    case .answer(let answer): exchange.answer(try answer(request))
    case .document(let make): slices.answer(try make(request), to: exchange)
    case .exchange(let take): try take(request, exchange)
    }
  }

  /// Matches every method.
  package static let anyMethod = "*"

  /// Whether it takes the request's method; the path is known to match.
  package func matches(_ request: HTTPRequest) -> Bool {
    method == Self.anyMethod || method == (request.method == "HEAD" ? "GET" : request.method)
  }
}

/// Every status that a refused request can get is documented, so that a client's generator knows them all.
extension Route {
  private static let meanings: [Int: String] = [
    400: "Something in the request is not what it should be", 401: "The access token is missing",
    403: "The Host or the Origin is not allowed", 404: "There is no such thing",
    409: "It can't be done in the present state, or a table is full",
    413: "The body, or a list in it, is longer than what is taken; the message says how long either is",
    415: "The body is not application/json",
    503: "Too many do it at once (`Retry-After` says when to try again), or it is not part of this run",
  ]

  /// Refusals that follow from what the route takes, and its own.
  package var refusalStatuses: [RouteAnswer] {
    var statuses = [400, 403] + refusals + (isVital ? [] : [503])
    if !isPublic { statuses.append(401) }
    if !pattern.names.isEmpty { statuses.append(404) }
    switch body {
    case .none: break
    case .json: statuses += [413, 415]
    case .any: statuses.append(413)
    }
    return Set(statuses).sorted().map { status in
      RouteAnswer(status: status, meaning: Self.meanings[status] ?? "Refused") { APIExamples.error(status) }
    }
  }
}

/// A parameter as the OpenAPI document tells it.
package struct RouteParameter {
  /// Where a request has it.
  package enum Place: String { case query, header }

  package var name: String
  package var place: Place
  package var meaning: String
  /// Only what is harmless to add has an example: of parameters that may be left out, few.
  package var schema: JSONSchema

  package init(
    _ name: String, _ meaning: String, _ schema: JSONValue = ["type": "string"], example: JSONValue = nil,
    in place: Place = .query
  ) {
    (self.name, self.place, self.meaning) = (name, place, meaning)
    self.schema = JSONSchema(schema, example: example)
  }
}

/// One documented answer.
package struct RouteAnswer {
  package var status: Int
  package var meaning: String
  package var contentType = "application/json"
  /// nil for one without a body.
  package var schema: () -> JSONSchema?
}

/// A row of the table reads from left to right: method, path, what it is for, what does it, then what goes in and comes out.
extension Route {
  package static func get(_ pattern: String, _ summary: String, _ action: Action) -> Route {
    Route("GET", pattern, summary, action)
  }

  package static func post(_ pattern: String, _ summary: String, _ action: Action) -> Route {
    Route("POST", pattern, summary, action)
  }

  package static func put(_ pattern: String, _ summary: String, _ action: Action) -> Route {
    Route("PUT", pattern, summary, action)
  }

  package static func delete(_ pattern: String, _ summary: String, _ action: Action) -> Route {
    Route("DELETE", pattern, summary, action)
  }

  /// Names parameters besides those of the path, which the handler reads.
  package func query(_ parameters: @escaping @autoclosure () -> [RouteParameter]) -> Route {
    with { ($0.readsQuery, $0.parameters) = (true, parameters) }
  }

  /// Does not mind what is in the query.
  package var anyQuery: Route { with { $0.readsQuery = true } }

  /// Takes a JSON body of this shape, which may be left out.
  package func takes(_ schema: @escaping @autoclosure () -> JSONSchema) -> Route {
    with { $0.body = .json(isRequired: false, schema: schema) }
  }

  /// Takes a JSON body of this shape.
  package func needs(_ schema: @escaping @autoclosure () -> JSONSchema) -> Route {
    with { $0.body = .json(isRequired: true, schema: schema) }
  }

  /// Takes any body.
  package func takes(contentType: String) -> Route { with { $0.body = .any(contentType: contentType) } }

  /// Documents an answer.
  package func answers(
    _ status: Int, _ meaning: String, _ schema: @escaping @autoclosure () -> JSONSchema? = nil,
    contentType: String = "application/json"
  ) -> Route {
    with {
      $0.answers.append(
        RouteAnswer(status: status, meaning: meaning, contentType: contentType, schema: schema))
    }
  }

  /// Documents refusals of its own.
  package func refuses(_ statuses: Int...) -> Route { with { $0.refusals += statuses } }

  /// Needs no access token.
  package var open: Route { with { $0.isPublic = true } }
  /// Is answered also when the console is full.
  package var vital: Route { with { $0.isVital = true } }
  /// Is answered also when the console is full, as its connection is counted otherwise.
  package var standing: Route { with { $0.isStanding = true } }
  /// May also be asked by the name of the service that it stands in for.
  package func standsIn(for host: String) -> Route { with { $0.host = host } }
  /// In a cluster, is answered by the node that has the device.
  package func atLeader(of leader: RouteLeader) -> Route { with { $0.leader = leader } }
  /// In a cluster, is done by every node.
  package var ordered: Route { with { $0.isOrdered = true } }
  /// The same, where every node is to be asked for something else than what came.
  package func ordered(as body: @escaping Handler<[UInt8]>) -> Route {
    with { ($0.isOrdered, $0.orderedBody) = (true, body) }
  }
  /// The same, where a node does at its place in the order what it does bit by bit when it is alone.
  package func ordered(doing answer: @escaping Handler<HTTPResponse>) -> Route {
    with { ($0.isOrdered, $0.orderedAnswer) = (true, answer) }
  }
  /// In a cluster, is done by every node for what is its own.
  package var spread: Route { with { $0.isSpread = true } }
  /// In a cluster, is answered for all nodes by any.
  package func merged(
    _ merge: @escaping (Console) -> (ConsoleRequest, HTTPExchange, any OtherConsoles) throws -> Void
  ) -> Route { with { $0.merge = merge } }
  /// Is left out of the OpenAPI document.
  package var hidden: Route { with { $0.isDocumented = false } }
  /// Gets the Origin check although it only reads.
  package var stream: Route { with { $0.isStream = true } }

  private func with(_ change: (inout Route) -> Void) -> Route {
    var route = self
    change(&route)
    return route
  }
}

/// The parameters of the API.
extension RouteParameter {
  /// A part of a path.
  package static func pathPart(_ name: String) -> JSONSchema {
    switch name {
    case "udid": JSONSchema(JSONKind.udid.schema, example: JSONExample.udid)
    case "topic": JSONSchema(JSONKind.topic.schema, example: JSONExample.topic)
    case "id": JSONSchema(.integers(1...Int64.max), example: 1)
    case "token": JSONSchema(JSONKind.customToken.schema, example: JSONExample.token)
    case "sha256": JSONSchema(JSONKind.digits.schema, example: JSONExample.sha256)
    case "keyId": JSONSchema(JSONKind.name.schema, example: "KEY1234567")
    case "zone": JSONSchema(.integers(0...1023), example: 3)
    case "node": JSONSchema(JSONKind.name.schema, example: "node-2")
    case "missing": JSONSchema(JSONKind.name.schema, example: "node-3")
    case "verb": JSONSchema(.words(PhoneVerb.all.map(\.name)), example: "settings")
    case "name": JSONSchema(["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"], example: "slow")
    default: JSONSchema(["type": "string", "minLength": 1], example: nil)
    }
  }

  package static let udid = RouteParameter("udid", "Of this device", example: JSONExample.udid)
  package static let topic = RouteParameter("topic", "Of this topic", example: JSONExample.topic)
  package static let token = RouteParameter(
    "token", "With this device token, in hexadecimal", ["type": "string", "pattern": "^([0-9A-Fa-f]{2})+$"],
    example: JSONExample.token)
  package static let deviceToken = RouteParameter(
    "token", "This device token, in hexadecimal", JSONKind.customToken.schema, example: JSONExample.token)
  package static let app = RouteParameter(
    "app", "The app's bundle id: its own token, and those of its topics with a suffix",
    example: JSONExample.topic)
  package static let tokenState = RouteParameter(
    "state", "Active or gone", TokenDocument.State.schema.definition)
  package static let environment = RouteParameter(
    "environment", "In this environment; for actions the emulator's if absent",
    Environment.schema.definition)
  package static let streamTopic = RouteParameter(
    "topic",
    "An app of the device, registered as if it were installed; may be given more than once. Without it: whatever is installed, now and later",
    JSONKind.topic.schema, example: JSONExample.topic)
  package static let streamAcknowledgement = RouteParameter(
    "ack", "When a notification counts as delivered: once it has left, or once `…/stream/ack` names it",
    .words(["written", "explicit"]))
  package static let online = RouteParameter("online", "Connected or not", .words(["true", "false"]))

  package static let eventSince = RouteParameter(
    "since",
    "Begin after this event; the header field Last-Event-ID does the same. After one of another boot come a `gap` and "
      + "all that is remembered of this boot",
    ["type": "string", "pattern": "^([0-9a-z]{1,12}-)?[0-9]{1,18}$"])

  /// Header fields that say what a provider's push is; there are more.
  package static let push = [
    RouteParameter("apns-topic", "The app", JSONKind.topic.schema, example: JSONExample.topic, in: .header),
    RouteParameter(
      "apns-push-type", "What it is", PushType.schema.definition, example: "alert", in: .header),
    RouteParameter(
      "apns-priority", "10 at once, 5 when it suits, 1 last", .words(["1", "5", "10"]), example: "10",
      in: .header),
    RouteParameter(
      "authorization", "`bearer` and a provider token; not needed with `--lenient`", in: .header),
  ]

  /// Of lists of rows.
  package static let page = [
    RouteParameter("since", "The `next` of the page before", .integers(0...Int64(Int32.max))),
    RouteParameter("limit", "Most rows to answer", .integers(1...100_000), example: 10),
  ]

  /// What notifications a request is about; all must hold.
  package static let filters = [
    topic, token, udid,
    RouteParameter("interface", "Where it came in", Interface.schema.definition),
    RouteParameter("status", "HTTP status of the verdict", .integers(100...599)),
    RouteParameter("reason", "Why it was rejected", .words(JSONValue.reasons)),
    RouteParameter("state", "Where it is on its way", NotificationState.schema.definition),
    RouteParameter(
      "phone", "What the device's phone has made of it, as `presented` or `no-callback`",
      ["type": "string", "pattern": "^[a-z-]{1,32}$"]),
    RouteParameter("q", "Text anywhere in the payload; ASCII letters without case"),
  ]

  /// Of lists of notifications.
  package static let cursor = [
    RouteParameter(
      "since", "After this id (the `next` of an earlier answer), or from this RFC 3339 time on",
      [
        "oneOf": .array(NotificationAnswer.cursors + [["type": "string", "format": "date-time"]])
      ]),
    RouteParameter("limit", "Most notifications to answer", .integers(1...10_000), example: 10),
    RouteParameter("order", "Which end to begin at", .words(["oldest", "newest"])),
    RouteParameter(
      "before", "With newest first: below this id (the `next` of an earlier answer)",
      NotificationAnswer.cursor),
  ]
}

/// What routes take and answer.
extension JSONSchema {
  /// An object with an array of such and where to go on.
  package static func list(_ member: String, of schema: JSONSchema) -> JSONSchema {
    let list = schema.list
    return JSONSchema(
      nil,
      [
        "type": "object", "required": [.string(member)],
        "properties": [member: list.definition, "next": ["type": ["integer", "null"]]],
      ], example: [member: list.example, "next": nil], parts: list.named)
  }

  package static let emptyObject = JSONSchema(
    ["type": "object", "additionalProperties": false], example: [:])

  /// No JSON.
  package static func text(_ example: JSONValue = "") -> JSONSchema {
    JSONSchema(["type": "string"], example: example)
  }
}
