import Faults
import PushModel

/// The shapes of fault rules.
extension APISchemas {
  static var faults: [(String, JSONValue)] {
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
}
