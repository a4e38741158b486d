import Broker
import Faults
import PushModel

/// The shapes of the API's documents, in JSON Schema (`interface.md`, Console).
enum APISchemas {
  static var all: [(String, JSONValue)] {
    general + registry + notifications + faults + savedState
  }

  /// A part of a path.
  static func pathPart(_ name: String) -> JSONValue {
    switch name {
    case "udid": ["type": "string", "pattern": "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"]
    case "topic": ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,255}$"]
    case "id": .integers(1...Int64.max)
    case "token": RouteParameter.deviceToken.schema
    case "name": ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"]
    default: ["type": "string", "minLength": 1]
    }
  }

  private static var general: [(String, JSONValue)] {
    [
      ("Error", object([("error", object([("code", text), ("message", text)]))])),
      (
        "Reason",
        [
          "type": "object", "required": ["reason"],
          "properties": ["reason": .words(JSONValue.reasons), "timestamp": whole],
        ]
      ),
      ("Status", object([("status", text)])),
      ("Info", object([("now", time), ("counters", ["type": "object", "additionalProperties": whole])])),
      ("Clock", object([("now", time), ("frozen", flag), ("offset", ["type": "number"])])),
      (
        "ClockChange",
        [
          "type": "object", "additionalProperties": false, "minProperties": 1,
          "properties": [
            "set": time, "advance": ["type": "string", "pattern": "^[+-]?([0-9]+(ms|d|h|m|s))+$"],
            "freeze": flag,
          ],
        ]
      ),
      (
        "Reset",
        [
          "type": "object", "additionalProperties": false,
          "properties": [
            "what": ["type": "array", "items": .words(ResetPart.allCases.map(\.rawValue))]
          ],
        ]
      ),
      ("ResetDone", object([("reset", list(text))])),
      ("Deletion", object([("deleted", whole)])),
      ("Disconnection", object([("udid", text), ("disconnected", flag)])),
      ("Connection", object([("listener", text), ("remoteAddress", text)])),
    ]
  }

  private static var registry: [(String, JSONValue)] {
    let state = JSONValue.words(["active", "gone"])
    return [
      (
        "Token",
        object([
          ("udid", text), ("topic", text), ("environment", environment), ("token", hex), ("install", whole),
          ("state", state), ("issuedAt", time), ("goneAt", nullable("string")), ("online", flag),
          ("installed", flag),
        ])
      ),
      (
        "Device",
        object([
          ("udid", text), ("online", flag), ("firstSeenAt", time), ("lastSeenAt", time), ("identity", whole),
          (
            "connections",
            list(
              object([
                ("environment", environment), ("connectedAt", time), ("baseToken", hex),
                ("enabledTopics", list(text)),
              ]))
          ),
          (
            "topics",
            list(
              object([
                ("topic", text), ("environment", environment), ("token", hex), ("install", whole),
                ("state", state), ("installed", flag), ("enabled", flag),
              ]))
          ),
          (
            "keptMessages",
            list(
              object([
                ("id", whole), ("topic", text), ("environment", environment), ("token", hex),
                ("receivedAt", time), ("expiresAt", time), ("priority", whole), ("pushType", text),
                ("payload", [:]), ("payloadBase64", text),
              ]))
          ),
        ])
      ),
      (
        "TokenDetail",
        object([
          ("udid", text), ("topic", text), ("environment", environment), ("token", hex), ("install", whole),
          ("state", state),
          (
            "derivation",
            object([
              ("isOurs", flag), ("function", text), ("key", text),
              ("message", list(object([("field", text), ("hex", text)]))),
            ])
          ),
        ])
      ),
      (
        "Channel",
        object([
          ("topic", text), ("environment", environment), ("id", text), ("storesNewest", flag),
          ("listeners", whole),
        ])
      ),
      (
        "FeedbackEntry",
        object([
          ("timestamp", time), ("token", hex), ("topic", text), ("udid", nullable("string")),
          ("environment", environment),
        ])
      ),
    ]
  }

  private static var notifications: [(String, JSONValue)] {
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
      ("Wait", wait), ("TestPush", testPush),
    ]
  }

  private static var notificationMembers: [(String, JSONValue)] {
    [
      ("id", whole), ("receivedAt", time), ("interface", .words(Interface.allCases.map(\.name))),
      ("command", nullable("integer")), ("identifier", nullable("integer")), ("apnsId", nullable("string")),
      ("topic", nullable("string")), ("environment", environment), ("token", text),
      ("udid", nullable("string")), ("pushType", .words(PushType.allCases.map(\.name))), ("priority", whole),
      ("expiration", nullable("string")), ("collapseId", nullable("string")), ("payload", [:]),
      ("payloadBase64", text),
      (
        "verdict",
        object([
          ("accepted", flag), ("status", whole), ("reason", nullable("string")), ("legacyStatus", whole),
          ("explanation", nullable("string")),
        ])
      ),
      ("state", .words(NotificationState.allCases.map(\.name))),
      ("timeline", list(object([("at", time), ("event", text), ("detail", text)]))),
    ]
  }

  private static var testPush: JSONValue {
    [
      "type": "object", "additionalProperties": false, "required": ["token", "topic"],
      "not": ["required": ["payload", "payloadBase64"]],
      "properties": [
        "protocol": .words(TestPush.Form.allCases.map(\.rawValue)),
        "token": ["type": "string", "pattern": "^([0-9A-Fa-f]{2}){1,100}$"],
        "topic": pathPart("topic"), "environment": environment, "payload": [:],
        "payloadBase64": ["type": "string", "contentEncoding": "base64", "pattern": "^([A-Za-z0-9+/]{4})*$"],
        "pushType": .words(PushType.allCases.map(\.name)), "priority": .integers(0...255),
        "expiration": .integers(0...Int64(UInt32.max)), "collapseId": text, "apnsId": text,
        "command": .integers(0...2), "identifier": .integers(0...Int64(UInt32.max)),
      ],
    ]
  }

  private static var wait: JSONValue {
    let digits: JSONValue = ["type": "string", "pattern": "^[1-5][0-9][0-9]$"]
    let filters = RouteParameter.filters.map {
      ($0.name, $0.name == "status" ? ["oneOf": [$0.schema, digits]] : $0.schema)
    }
    return [
      "type": "object", "additionalProperties": false,
      "properties": [
        "match": ["type": "object", "additionalProperties": false, "properties": .object(filters)],
        "count": .integers(NotificationWait.counts), "timeoutMs": .integers(NotificationWait.timeouts),
        "since": [
          "oneOf": [.integers(0...Int64.max), ["type": "string", "format": "date-time"], ["type": "null"]]
        ],
      ],
    ]
  }

  private static var faults: [(String, JSONValue)] {
    [
      (
        "Fault",
        object([
          ("name", text), ("match", faultMatch), ("when", ["type": ["object", "null"]]),
          ("effect", faultEffect), ("enabled", flag), ("hits", whole), ("seen", whole),
        ])
      ),
      (
        "FaultRequest",
        [
          "type": "object", "additionalProperties": false,
          "anyOf": [
            ["required": ["effect"]], ["required": ["preset"]],
            ["required": ["name", "enabled"], "maxProperties": 2],
          ],
          "properties": [
            "name": pathPart("name"), "preset": .words(FaultPreset.allCases.map(\.rawValue)),
            "match": faultMatch, "when": faultSchedule, "effect": faultEffect, "enabled": flag,
          ],
        ]
      ),
    ]
  }

  private static var faultMatch: JSONValue {
    [
      "type": "object", "additionalProperties": false,
      "properties": [
        "interface": .words(FaultPlace.allCases.map(\.rawValue)), "topic": text,
        "token": RouteParameter.token.schema, "priority": ["type": "integer", "enum": [1, 5, 10]],
        "connection": text,
      ],
    ]
  }

  private static var faultSchedule: JSONValue {
    func only(_ name: String, _ schema: JSONValue) -> JSONValue {
      [
        "type": "object", "additionalProperties": false, "required": [.string(name)],
        "properties": .object([(name, schema)]),
      ]
    }
    let counts = JSONValue.integers(1...1_000_000_000)
    return [
      "oneOf": [
        ["type": "null"], only("next", counts), only("every", counts),
        only("probability", ["type": "number", "minimum": 0, "maximum": 1]),
        [
          "type": "object", "additionalProperties": false, "minProperties": 1,
          "properties": ["from": time, "to": time],
        ],
      ]
    ]
  }

  private static var faultEffect: JSONValue {
    let waits = JSONValue.integers(0...FaultEffects.longestWait)
    let bytes = JSONValue.integers(1...FaultEffects.mostBytes)
    return [
      "type": "object", "additionalProperties": false, "minProperties": 1,
      "properties": [
        "reason": .words(JSONValue.reasons), "delayMs": waits, "jitterMs": waits,
        "dribble": [
          "type": "object", "additionalProperties": false,
          "properties": ["bytes": bytes, "everyMs": .integers(1...FaultEffects.longestWait)],
        ],
        "goaway": ["type": "object", "additionalProperties": false, "properties": ["reason": text]],
        "rstStream": .integers(0...Int64(UInt32.max)), "reset": flag, "halfClose": flag, "stall": flag,
        "garbage": bytes, "tlsAlert": .integers(0...255),
        "legacy": [
          "type": "object", "additionalProperties": false, "required": ["status"],
          "properties": ["status": .integers(0...255), "identifier": .integers(0...Int64(UInt32.max))],
        ],
        "refuse": flag, "courier": .words(FaultEffects.Courier.allCases.map(\.rawValue)),
      ],
    ]
  }

  // MARK: Pieces

  static let text: JSONValue = ["type": "string"]
  static let whole: JSONValue = ["type": "integer"]
  static let flag: JSONValue = ["type": "boolean"]
  static let time: JSONValue = ["type": "string", "format": "date-time"]
  static let hex: JSONValue = ["type": "string", "pattern": "^[0-9a-f]{64}$"]
  static var environment: JSONValue { .words(Environment.allCases.map(\.name)) }

  static func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }
  static func nullable(_ type: String) -> JSONValue { ["type": .array([.string(type), "null"])] }

  /// An object with all of these members, and maybe others: adding is free.
  static func object(_ members: [(String, JSONValue)]) -> JSONValue {
    [
      "type": "object", "required": .array(members.map { .string($0.0) }), "properties": .object(members),
    ]
  }
}
