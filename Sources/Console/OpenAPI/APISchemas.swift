import Broker
import Faults
import Phone
import PushModel

/// The shapes of the API's documents, in JSON Schema (`Documentation/console-api.md`).
enum APISchemas {
  static var all: [(String, JSONValue)] {
    general + credentials + registry + phones + notifications + faults + cluster + savedState
      + explanations
  }

  /// A part of a path.
  static func pathPart(_ name: String) -> JSONValue {
    switch name {
    case "udid": JSONKind.udid.schema
    case "topic": JSONKind.topic.schema
    case "id": .integers(1...Int64.max)
    case "token": RouteParameter.deviceToken.schema
    case "sha256": hex
    case "keyId": JSONKind.name.schema
    case "zone": .integers(0...1023)
    case "node", "missing": JSONKind.name.schema
    case "verb": .words(PhoneVerb.all.map(\.name))
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
        object(
          [
            ("version", text), ("environment", environment),
            ("listeners", map(of: object([("host", text), ("port", whole)]))), ("ca", text), ("certs", text),
            ("portsFile", nullable("string")), ("needsAccess", flag), ("certificates", list(text)),
            ("lenient", flag), ("ephemeral", flag), ("seed", text), ("boot", boot), ("now", time),
            ("clock", object(clock)), ("counters", map(of: whole)),
          ], maybe: [("node", nullable("string"))])
      ),
      ("Clock", object(clock)),
      ("ClockChange", ClockChange.form.schema), ("Reset", ResetRequest.form.schema),
      ("ResetDone", object([("reset", list(text))])),
      ("Deletion", object([("deleted", whole)])),
      ("TokenClaim", TokenClaim.form.schema), ("StreamReceipt", StreamReceipt.form.schema),
      ("StreamAcknowledgement", object([("acknowledged", whole)])),
      ("Disconnection", object([("udid", text), ("disconnected", flag)])),
      (
        "Connection",
        object(
          [
            ("listener", text), ("remoteAddress", text), ("tlsVersion", nullable("string")),
            ("bytesRead", whole), ("bytesWritten", whole),
          ],
          maybe: [
            ("cipher", nullable("string")), ("serverName", nullable("string")), ("proxy", nullable("string")),
            ("alpn", nullable("string")),
            ("peer", nullable("string")), ("queuedBytes", whole), ("streams", whole),
            ("devices", list(text)), ("requests", whole), ("node", text), ("relayedFor", text),
          ])
      ),
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
      ("Faults", object([("faults", list(.schema("Fault"))), ("presets", list(.schema("Fault")))])),
    ]
  }

  // MARK: Pieces

  static let text: JSONValue = ["type": "string"]
  static let whole: JSONValue = ["type": "integer"]
  static let flag: JSONValue = ["type": "boolean"]
  static let time = JSONKind.time.schema
  static let hex: JSONValue = ["type": "string", "pattern": "^([0-9a-f]{2}){1,100}$"]
  static let environment = JSONKind.environment.schema

  static func list(_ items: JSONValue) -> JSONValue { ["type": "array", "items": items] }
  static func map(of values: JSONValue) -> JSONValue {
    ["type": "object", "additionalProperties": values]
  }
  static func nullable(_ type: String) -> JSONValue { ["type": .array([.string(type), "null"])] }

  /// An object with all of the `members` and maybe `others`, or ones not told of: adding is free.
  static func object(_ members: [(String, JSONValue)], maybe others: [(String, JSONValue)] = []) -> JSONValue
  {
    [
      "type": "object", "required": .array(members.map { .string($0.0) }),
      "properties": .object(members + others),
    ]
  }
}

/// The shapes of pushes, and of what looks for or sends one.
extension APISchemas {
  static var notifications: [(String, JSONValue)] {
    let header = object([("name", text), ("value", text)])
    return [
      ("Notification", object(notificationMembers, maybe: ofPart + ofNode)),
      (
        "NotificationDetail",
        object(
          notificationMembers + [("headers", list(header)), ("rawBase64", text), ("rawHex", text)],
          maybe: ofPart + [("rawSize", size("`rawBase64`"))] + ofNode)
      ),
      (
        "Notifications",
        object([("notifications", list(.schema("Notification"))), ("next", cursor)], maybe: [missing])
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
        object(
          [
            ("error", ["type": "object"]), ("nearMisses", list(.schema("NearMiss"))),
            ("notifications", list(.schema("Notification"))), ("next", cursor),
          ], maybe: [missing])
      ),
      ("Wait", wait), ("TestPush", TestPush.form.schema),
    ]
  }

  /// What is said of a notification of which the history has only a part.
  private static var ofPart: [(String, JSONValue)] {
    [
      (
        "truncated",
        [
          "type": "boolean",
          "description":
            "It was refused and is larger than any good one: payload and raw bytes are the beginning of what came.",
        ]
      ), ("payloadSize", size("the payload")),
    ]
  }

  private static func size(_ what: String) -> JSONValue {
    ["type": "integer", "description": .string("Where `truncated`: bytes of \(what) as it came.")]
  }

  /// What is said in a cluster alone.
  private static var ofNode: [(String, JSONValue)] {
    [
      (
        "node",
        ["type": "string", "description": "In a cluster, the node by which it came, whose history has it."]
      )
    ]
  }

  static let missing: (String, JSONValue) = (
    "missing",
    [
      "type": "array", "items": text,
      "description": "In a cluster, nodes that have not answered in time: what came in by them is left out.",
    ]
  )

  /// Where to go on: an id, or in a cluster one of each node.
  static let cursor: JSONValue = ["oneOf": .array(cursors)]
  static let cursors: [JSONValue] = [
    .integers(0...Int64.max),
    [
      "type": "string", "pattern": "^[0-9]{1,18}(~[0-9]{1,18}){0,9}$",
      "description": "In a cluster, an id of each node; `since` and `before` take it as it is.",
    ],
  ]

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
      (
        "timeline",
        list(
          object(
            [("at", time), ("event", text), ("detail", text)],
            maybe: [("rule", text), ("evidence", text), ("reason", text)]))
      ),
    ]
  }

  private static var wait: JSONValue {
    let digits: JSONValue = ["type": "string", "pattern": "^[1-5][0-9][0-9]$"]
    let filters = RouteParameter.filters.map {
      ($0.name, $0.name == "status" ? ["oneOf": [$0.schema, digits]] : $0.schema)
    }
    let since: JSONValue = [
      "oneOf": .array(cursors + [["type": "string", "format": "date-time"], ["type": "null"]])
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

/// The shapes of certificates and keys.
extension APISchemas {
  static var credentials: [(String, JSONValue)] {
    let environments = JSONKind.environments.schema
    return [
      ("CertificateOrder", CertificateOrder.form.schema), ("KeyOrder", KeyOrder.form.schema),
      (
        "MadeCertificate",
        object(
          [("topics", list(text)), ("environment", environments), ("certificate", text), ("sha256", hex)],
          maybe: [("privateKey", text), ("pkcs12Base64", text)])
      ),
      (
        "MadeKey",
        object([
          ("keyId", text), ("team", text), ("topics", list(text)), ("environments", environments),
          ("p8", text),
        ])
      ),
      (
        "PushCertificate",
        object([
          ("topic", text), ("moreTopics", list(text)), ("environment", environments), ("single", flag),
          ("sha256", hex), ("revoked", flag),
        ])
      ),
      (
        "TokenKey",
        object([
          ("keyId", text), ("team", text), ("topics", list(text)), ("environments", environments),
          ("revoked", flag),
        ])
      ),
      ("RevokedCertificate", object([("sha256", hex), ("revoked", flag)])),
      ("RevokedKey", object([("keyId", text), ("revoked", flag)])),
    ]
  }
}

/// The shapes of devices, of what is registered for them, and of what the feedback service holds.
extension APISchemas {
  static var registry: [(String, JSONValue)] {
    [
      ("Token", object(token)), ("Device", device), ("TokenDetail", tokenDetail),
      (
        "Channel",
        object([
          ("topic", text), ("environment", environment), ("id", text), ("storesNewest", flag),
          ("listeners", whole), ("newestAt", nullable("string")),
        ])
      ),
      (
        "FeedbackEntry",
        object([
          // Of a token of another service, which may have any length.
          ("timestamp", time), ("token", RouteParameter.token.schema), ("topic", text),
          ("udid", nullable("string")),
          ("environment", environment),
        ])
      ),
    ]
  }

  private static var tokenState: JSONValue { .words(["active", "gone"]) }

  private static var token: [(String, JSONValue)] {
    [
      ("udid", text), ("topic", text), ("environment", environment),
      ("token", hex), ("install", whole), ("state", tokenState), ("issuedAt", time),
      ("goneAt", nullable("string")), ("online", flag),
      ("installed", flag), ("context", nullable("string")),
    ]
  }

  private static var tokenDetail: JSONValue {
    let derivation = object([
      ("isOurs", flag), ("function", text), ("key", text),
      ("message", list(object([("field", text), ("hex", text)]))),
    ])
    return object(token + [("derivation", derivation)])
  }

  private static var device: JSONValue {
    object([
      ("udid", text), ("online", flag), ("firstSeenAt", time), ("lastSeenAt", time), ("identity", whole),
      ("connections", list(deviceConnection)), ("topics", list(deviceTopic)),
      ("keptMessages", list(keptMessage)),
    ])
  }

  private static var deviceConnection: JSONValue {
    object([
      ("environment", environment), ("by", .words(DeviceWay.allCases.map(\.rawValue))),
      ("connectedAt", time), ("baseToken", hex), ("enabledTopics", list(text)),
    ])
  }

  private static var deviceTopic: JSONValue {
    object([
      ("topic", text), ("context", nullable("string")), ("environment", environment), ("token", hex),
      ("install", whole), ("state", tokenState), ("installed", flag), ("enabled", flag),
    ])
  }

  private static var keptMessage: JSONValue {
    object([
      ("id", whole), ("topic", text), ("environment", environment), ("token", hex), ("receivedAt", time),
      ("expiresAt", time), ("priority", whole), ("pushType", text), ("collapseId", nullable("string")),
      ("payload", [:]), ("payloadBase64", text),
    ])
  }
}

/// The shapes of saved states.
extension APISchemas {
  static var savedState: [(String, JSONValue)] {
    [
      ("State", SavedState.form.schema), ("SavedApp", SavedApp.form.schema),
      ("SavedKey", SavedKey.form.schema),
      ("SavedDevice", SavedDevice.form.schema), ("SavedRow", SavedRow.form.schema),
      ("SavedMessage", SavedMessage.form.schema), ("SavedChannel", SavedChannel.form.schema),
      ("SavedSubscriber", SavedSubscriber.form.schema),
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
}
