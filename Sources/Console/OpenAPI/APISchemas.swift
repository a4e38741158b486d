import Faults
import PushModel

/// The shapes of the API's documents, in JSON Schema (`Documentation/console-api.md`).
enum APISchemas {
  static var all: [(String, JSONValue)] {
    general + registry + notifications + faults + savedState
  }

  /// A part of a path.
  static func pathPart(_ name: String) -> JSONValue {
    switch name {
    case "udid": JSONKind.udid.schema
    case "topic": JSONKind.topic.schema
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
      (
        "Info",
        object([
          ("boot", boot), ("portsFile", nullable("string")), ("needsAccess", flag), ("now", time),
          ("clock", object(clock)),
          ("counters", ["type": "object", "additionalProperties": whole]),
        ])
      ),
      ("Clock", object(clock)),
      ("ClockChange", ClockChange.form.schema), ("Reset", ResetRequest.form.schema),
      ("ResetDone", object([("reset", list(text))])),
      ("Deletion", object([("deleted", whole)])),
      ("Disconnection", object([("udid", text), ("disconnected", flag)])),
      ("Connection", object([("listener", text), ("remoteAddress", text)])),
    ]
  }

  private static var boot: JSONValue {
    [
      "type": "string", "pattern": "^[0-9a-z]{1,12}$",
      "description":
        "Names this run of the emulator. When it changes, the emulator was started anew, and what was loaded before is out of date.",
    ]
  }

  private static var clock: [(String, JSONValue)] {
    let offset: JSONValue = ["type": "number", "description": "Seconds from the system's clock."]
    return [("now", time), ("frozen", flag), ("offset", offset)]
  }

  private static var faults: [(String, JSONValue)] {
    [
      (
        "Fault",
        object([
          ("name", text), ("match", FaultMatch.form.schema), ("when", ["type": ["object", "null"]]),
          ("effect", FaultEffects.form.schema), ("enabled", flag), ("hits", whole), ("seen", whole),
        ])
      ), ("FaultRequest", FaultRule.form.schema),
    ]
  }

  // MARK: Pieces

  static let text: JSONValue = ["type": "string"]
  static let whole: JSONValue = ["type": "integer"]
  static let flag: JSONValue = ["type": "boolean"]
  static let time = JSONKind.time.schema
  static let hex: JSONValue = ["type": "string", "pattern": "^[0-9a-f]{64}$"]
  static let environment = JSONKind.environment.schema

  static func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }
  static func nullable(_ type: String) -> JSONValue { ["type": .array([.string(type), "null"])] }

  /// An object with all of these members, and maybe others: adding is free.
  static func object(_ members: [(String, JSONValue)]) -> JSONValue {
    [
      "type": "object", "required": .array(members.map { .string($0.0) }), "properties": .object(members),
    ]
  }
}
