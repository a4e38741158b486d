import Broker
import PushModel

/// The query parameters of the API.
extension RouteParameter {
  static let udid = RouteParameter("udid", "Of this device")
  static let topic = RouteParameter("topic", "Of this topic")
  static let token = RouteParameter(
    "token", "With this device token, in hexadecimal", ["type": "string", "pattern": "^([0-9A-Fa-f]{2})+$"])
  static let deviceToken = RouteParameter(
    "token", "This device token, in hexadecimal", ["type": "string", "pattern": "^[0-9A-Fa-f]{64}$"])
  static let tokenState = RouteParameter("state", "Active or gone", .words(["active", "gone"]))
  static let environment = RouteParameter(
    "environment", "In this environment; for actions the emulator's if absent",
    .words(Environment.allCases.map(\.name)))
  static let online = RouteParameter("online", "Connected or not", .words(["true", "false"]))

  static let eventSince = RouteParameter(
    "since",
    "Begin after this event; the header field Last-Event-ID does the same. After one of another boot come a `gap` and "
      + "all that is remembered of this boot",
    ["type": "string", "pattern": "^([0-9a-z]{1,12}-)?[0-9]{1,18}$"])

  /// Header fields that say what a provider's push is; there are more.
  static let push = [
    header("apns-topic", "The app", APISchemas.pathPart("topic")),
    header("apns-push-type", "What it is", .words(PushType.allCases.map(\.name))),
    header("apns-priority", "10 at once, 5 when it suits, 1 last", .words(["1", "5", "10"])),
    header("authorization", "`bearer` and a provider token; not needed with `--lenient`"),
  ]

  private static func header(
    _ name: String, _ meaning: String, _ schema: JSONValue = ["type": "string"]
  ) -> RouteParameter {
    var parameter = RouteParameter(name, meaning, schema)
    parameter.place = .header
    return parameter
  }

  /// Of lists of rows.
  static let page = [
    RouteParameter("since", "The `next` of the page before", .integers(0...Int64(Int32.max))),
    RouteParameter("limit", "Most rows to answer", .integers(1...100_000)),
  ]

  /// What notifications a request is about; all must hold.
  static let filters = [
    topic, token, udid,
    RouteParameter("interface", "Where it came in", .words(Interface.allCases.map(\.name))),
    RouteParameter("status", "HTTP status of the verdict", .integers(100...599)),
    RouteParameter("reason", "Why it was rejected", .words(JSONValue.reasons)),
    RouteParameter("state", "Where it is on its way", .words(NotificationState.allCases.map(\.name))),
    RouteParameter("q", "Text anywhere in the payload; ASCII letters without case"),
  ]

  /// Of lists of notifications.
  static let cursor = [
    RouteParameter(
      "since", "After this id (the `next` of an earlier answer), or from this RFC 3339 time on",
      [
        "oneOf": [
          .integers(0...Int64.max), ["type": "string", "format": "date-time"],
        ]
      ]),
    RouteParameter("limit", "Most notifications to answer", .integers(1...10_000)),
    RouteParameter("order", "Which end to begin at", .words(["oldest", "newest"])),
    RouteParameter("before", "With newest first: below this id", .integers(0...Int64.max)),
  ]
}

/// Shapes of bodies, in JSON Schema.
extension JSONValue {
  /// An object with an array of such and where to go on.
  static func list(_ member: String, of name: String) -> JSONValue {
    [
      "type": "object", "required": [.string(member)],
      "properties": [
        member: ["type": "array", "items": .schema(name)], "next": ["type": ["integer", "null"]],
      ],
    ]
  }

  static var emptyObject: JSONValue { ["type": "object", "additionalProperties": false] }
}
