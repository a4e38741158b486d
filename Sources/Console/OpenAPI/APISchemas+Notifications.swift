import Broker
import PushModel

/// The shapes of pushes, and of what looks for or sends one.
extension APISchemas {
  static var notifications: [(String, JSONValue)] {
    let header = object([("name", text), ("value", text)])
    return [
      ("Notification", object(notificationMembers)),
      (
        "NotificationDetail",
        object(notificationMembers + [("headers", list(header)), ("rawBase64", text), ("rawHex", text)])
      ),
      (
        "NearMiss",
        object([
          ("notification", .schema("Notification")),
          ("failed", list(object([("filter", text), ("expected", [:]), ("actual", [:])]))),
        ])
      ),
      (
        "WaitTimeout",
        object([
          ("error", ["type": "object"]), ("nearMisses", list(.schema("NearMiss"))),
          ("notifications", list(.schema("Notification"))), ("next", whole),
        ])
      ),
      ("Wait", wait), ("TestPush", TestPush.form.schema),
    ]
  }

  private static var notificationMembers: [(String, JSONValue)] {
    [
      ("id", whole), ("receivedAt", time), ("interface", .words(Interface.allCases.map(\.name))),
      ("command", nullable("integer")), ("identifier", nullable("integer")), ("apnsId", nullable("string")),
      ("topic", nullable("string")), ("environment", environment), ("token", text),
      ("udid", nullable("string")), ("pushType", .words(PushType.allCases.map(\.name))), ("priority", whole),
      ("expiration", nullable("string")), ("collapseId", nullable("string")),
      ("channelId", nullable("string")), ("payload", [:]),
      ("payloadBase64", text),
      (
        "verdict",
        object([
          ("accepted", flag), ("status", nullable("integer")), ("reason", nullable("string")),
          ("legacyStatus", nullable("integer")), ("explanation", nullable("string")),
          (
            "fault", ["oneOf": [["type": "null"], object([("name", text), ("effect", ["type": "object"])])]]
          ),
        ])
      ),
      ("state", .words(NotificationState.allCases.map(\.name))),
      ("timeline", list(object([("at", time), ("event", text), ("detail", text)]))),
    ]
  }

  private static var wait: JSONValue {
    let digits: JSONValue = ["type": "string", "pattern": "^[1-5][0-9][0-9]$"]
    let filters = RouteParameter.filters.map {
      ($0.name, $0.name == "status" ? ["oneOf": [$0.schema, digits]] : $0.schema)
    }
    let since: JSONValue = [
      "oneOf": [.integers(0...Int64.max), ["type": "string", "format": "date-time"], ["type": "null"]]
    ]
    return [
      "type": "object", "additionalProperties": false,
      "properties": [
        "match": [
          "type": "object", "additionalProperties": false,
          "properties": .object(filters + [("since", since)]),
        ],
        "count": .integers(NotificationWait.counts), "timeoutMs": .integers(NotificationWait.timeouts),
        "since": since,
      ],
    ]
  }
}
