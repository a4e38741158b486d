import Basics
import Broker
import Phone
import PushModel
import Transport

/// Every status that a refused request can get is documented, so that a client's generator knows them all.
extension Route {
  private static let meanings: [Int: String] = [
    400: "The request is invalid; the message says what was expected", 401: "The access token is missing",
    403: "The Host or the Origin is not allowed", 404: "Not found",
    409: "Not possible in the present state, or a table is full",
    413: "The body, or a list in it, is longer than the limit; the message says the limit",
    415: "The body is not application/json",
    503: "Too many requests of this kind at once (`Retry-After` says when to retry), or not part of this run",
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
    case "drill":
      JSONSchema(["type": "string", "pattern": "^[a-z0-9-]{1,64}$"], example: "baseline")
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
    "environment", "In this environment; the default of actions is the emulator's",
    Environment.schema.definition)
  package static let streamTopic = RouteParameter(
    "topic",
    "An app of the device, registered as if it were installed; may be given more than once. Without it: all installed apps, now and later",
    JSONKind.topic.schema, example: JSONExample.topic)
  package static let streamAcknowledgement = RouteParameter(
    "ack", "When a notification counts as delivered: once it has left, or once `…/stream/ack` names it",
    .words(["written", "explicit"]))
  package static let online = RouteParameter("online", "Connected or not", .words(["true", "false"]))

  package static let eventSince = RouteParameter(
    "since",
    "Begin after this event; the header field Last-Event-ID does the same. If the event is of another boot, a `gap` and "
      + "all remembered events of this boot follow",
    ["type": "string", "pattern": "^([0-9a-z]{1,12}-)?[0-9]{1,18}$"])

  /// Header fields that say what a provider's push is; there are more.
  package static let push = [
    RouteParameter("apns-topic", "The topic", JSONKind.topic.schema, example: JSONExample.topic, in: .header),
    RouteParameter(
      "apns-push-type", "The push type", PushType.schema.definition, example: "alert", in: .header),
    RouteParameter(
      "apns-priority", "10 immediately, 5 to save power, 1 lowest", .words(["1", "5", "10"]), example: "10",
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
    RouteParameter("interface", "The interface by which it came", Interface.schema.definition),
    RouteParameter("status", "HTTP status of the verdict", .integers(100...599)),
    RouteParameter("reason", "Why it was rejected", .words(JSONValue.reasons)),
    RouteParameter("state", "The state of the notification", NotificationState.schema.definition),
    RouteParameter(
      "phone", "What the device's phone did with it, such as `presented` or `no-callback`",
      ["type": "string", "pattern": "^[a-z-]{1,32}$"]),
    RouteParameter("q", "Text anywhere in the payload; the case of ASCII letters is ignored"),
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
