import Broker
import PushModel

/// The shapes of saved states.
extension APISchemas {
  static var savedState: [(String, JSONValue)] {
    [
      ("State", state), ("SavedApp", app), ("SavedKey", key), ("SavedDevice", device), ("SavedRow", row),
      ("SavedMessage", message), ("SavedChannel", channel),
      ("SavedSubscriber", closed([("udid", pathPart("udid")), ("seenUntil", time)], required: ["udid"])),
      (
        "Imported",
        object([
          (
            "imported",
            object([
              ("apps", whole), ("keys", whole), ("devices", whole), ("tokens", whole), ("messages", whole),
              ("channels", whole), ("subscriptions", whole), ("faults", whole),
            ])
          )
        ])
      ),
    ]
  }

  private static var state: JSONValue {
    closed(
      [
        ("version", ["type": "integer", "enum": [.integer(SavedState.version)]]),
        (
          "clock",
          closed([
            (
              "offset",
              [
                "type": "number", "minimum": .number(SavedClock.offsets.lowerBound),
                "maximum": .number(SavedClock.offsets.upperBound),
              ]
            ), ("frozenAt", time),
          ])
        ),
        ("apps", list(.schema("SavedApp"))), ("keys", list(.schema("SavedKey"))),
        ("devices", list(.schema("SavedDevice"))), ("channels", list(.schema("SavedChannel"))),
        ("feedback", list(token)), ("faults", list(.schema("FaultRequest"))),
      ], required: ["version"])
  }

  private static var app: JSONValue {
    let certificate = closed([
      ("environments", environments), ("moreTopics", list(pathPart("topic"))), ("single", flag),
    ])
    return closed(
      [
        ("topic", pathPart("topic")),
        ("certificate", ["oneOf": [["type": "null"], environments, certificate]]),
      ], required: ["topic"])
  }

  private static var key: JSONValue {
    closed(
      [
        ("keyId", pathPart("udid")), ("teamId", pathPart("udid")), ("topics", list(pathPart("topic"))),
        ("environments", environments),
      ], required: ["keyId", "teamId"])
  }

  private static var device: JSONValue {
    closed(
      [
        ("udid", pathPart("udid")), ("identity", .integers(1...Int64(Int32.max))),
        ("keyFingerprint", ["type": "string", "pattern": "^([0-9A-Fa-f]{2}){1,32}$"]),
        ("firstSeenAt", time), ("lastSeenAt", time), ("apps", list(.schema("SavedRow"))),
      ], required: ["udid"])
  }

  private static var row: JSONValue {
    let members: [(String, JSONValue)] = [
      ("topic", pathPart("topic")), ("topicHash", ["type": "string", "pattern": "^[0-9A-Fa-f]{40}$"]),
      ("environment", environment), ("install", .integers(1...Int64(Registry.rowsPerDevice))),
      ("token", token),
      ("state", .words(SavedRow.State.allCases.map(\.rawValue))), ("issuedAt", time), ("goneAt", time),
      ("message", .schema("SavedMessage")),
    ]
    guard case .object(let parts) = closed(members) else { return closed(members) }
    return .object(parts + [("anyOf", [["required": ["topic"]], ["required": ["topicHash"]]])])
  }

  private static var message: JSONValue {
    closed([
      ("payload", [:]), ("payloadBase64", text), ("priority", ["type": "integer", "enum": [1, 5, 10]]),
      ("pushType", .words(PushType.allCases.map(\.name))), ("apnsId", ["type": "string", "format": "uuid"]),
      ("expiration", .integers(0...Int64(UInt32.max))), ("receivedAt", time), ("expiresAt", time),
    ])
  }

  private static var channel: JSONValue {
    closed(
      [
        ("topic", pathPart("topic")), ("environment", environment),
        ("id", ["type": "string", "pattern": "^([A-Za-z0-9+/]{4}){1,20}$"]), ("storesNewest", flag),
        ("message", .schema("SavedMessage")), ("subscribers", list(.schema("SavedSubscriber"))),
      ], required: ["topic", "id"])
  }

  private static var token: JSONValue { RouteParameter.deviceToken.schema }
  private static var environments: JSONValue { .words(["sandbox", "production", "both"]) }

  /// An object with no other members.
  static func closed(_ members: [(String, JSONValue)], required: [String] = []) -> JSONValue {
    [
      "type": "object", "additionalProperties": false, "required": .array(required.map(JSONValue.string)),
      "properties": .object(members),
    ]
  }
}
