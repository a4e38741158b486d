import PushModel

/// What requests look like and what comes back, for the API's description. They tell of one phone with one app, so that
/// one can be sent after the other: `State` makes what the rest is about.
enum APIExamples {
  static let udid = "phone-1"
  static let topic = "com.example.app"
  static let token = "8f1c5b2ad0e94763b1a8c4f7e25d90638f1c5b2ad0e94763b1a8c4f7e25d9063"
  private static let sha256 = "1f825aa2f0020ef7cf91dfa30da4668d791c5d4824fc8e41354b89ec05795ab3"
  private static let now = "2026-01-02T03:04:05.678Z"
  private static let aps: JSONValue = ["aps": ["alert": "Hello"]]
  private static let apsBase64 = "eyJhcHMiOnsiYWxlcnQiOiJIZWxsbyJ9fQ=="

  /// A part of a path, or a parameter; nil where any value would be beside the point.
  static func parameter(_ name: String) -> JSONValue? {
    switch name {
    case "udid": .string(udid)
    case "topic", "app", "apns-topic": .string(topic)
    case "token": .string(token)
    case "id": 1
    case "name": "slow"
    case "sha256": .string(sha256)
    case "keyId": "KEY1234567"
    case "verb": "settings"
    case "zone": 3
    case "node": "node-2"
    case "missing": "node-3"
    case "limit": 10
    case "apns-push-type": "alert"
    case "apns-priority": "10"
    default: nil
    }
  }

  /// The body of a request.
  static func body(_ route: Route) -> JSONValue? {
    switch route.body {
    case .none: nil
    case .json(let schema, _): value(of: schema)
    case .any: route.pattern.text == "/3/device/{token}" ? aps : .string(activationForm)
    }
  }

  // MARK: Answers

  /// The body of an answer; nil if it has none.
  static func answer(_ answer: RouteAnswer) -> JSONValue? {
    guard let schema = answer.schema else { return nil }
    switch answer.contentType {
    case "text/plain": return "# TYPE apns_emulator_devices gauge\napns_emulator_devices 1\n"
    case "text/event-stream": return "retry: 1000\n\nid: x-1\nevent: reset\ndata: {\"event\":\"reset\"}\n\n"
    case "text/html": return "<html><head></head><body>…</body></html>"
    default: break
    }
    if schema.text == JSONValue.schema("Error").text { return error(answer.status) }
    if isApples(schema) { return reason(answer.status) }
    return value(of: schema)
  }

  private static func isApples(_ schema: JSONValue) -> Bool {
    guard case .array(let choices)? = schema.member("oneOf") else {
      return schema.text == JSONValue.schema("Reason").text
    }
    return choices.contains { $0.text == JSONValue.schema("Reason").text }
  }

  private static func reason(_ status: Int) -> JSONValue? {
    guard let rejection = Rejection.allCases.first(where: { $0.status == status }) else { return nil }
    let reason = ("reason", JSONValue.string(rejection.reason))
    return .object(status == 410 ? [reason, ("timestamp", 1_767_323_045_678)] : [reason])
  }

  private static func error(_ status: Int) -> JSONValue {
    let (code, message) =
      switch status {
      case 401: ("unauthorized", "this console asks for its access token")
      case 403: ("forbidden", "the origin \"http://example.com\" may not do this")
      case 404: ("notFound", "no device phone-1 has been seen; installing an app on it makes it known")
      case 409: ("conflict", "there are too many topics")
      case 413: ("bodyTooLarge", "the body is larger than 16777216 bytes")
      case 415:
        ("unsupportedMediaType", "the body: expected Content-Type application/json, got \"text/plain\"")
      case 503: ("unavailable", "800 clients are waiting already")
      default: ("badRequest", "limit: expected a number from 1 to 10000, got \"0\"")
      }
    return ["error": ["code": .string(code), "message": .string(message)]]
  }

  // MARK: Values

  /// A value of a shape: the one that its name has, else the least that fits.
  static func value(of schema: JSONValue) -> JSONValue {
    if let name = schema.string("$ref")?.split(separator: "/").last,
      let known = named[String(name)] ?? explanations[String(name)]
    {
      return known
    }
    if case .array(let choices)? = schema.member("oneOf"), let first = choices.first {
      return value(of: first)
    }
    if case .array(let words)? = schema.member("enum"), let first = words.first { return first }
    switch type(schema) {
    case "object": return members(of: schema)
    case "array": return .array(schema.member("items").map { [value(of: $0)] } ?? [])
    case "string": return ""
    case "integer", "number": return 0
    case "boolean": return false
    default: return nil
    }
  }

  private static func type(_ schema: JSONValue) -> String? {
    if case .array(let types)? = schema.member("type") {
      let names = types.compactMap { if case .string(let name) = $0 { name } else { nil } }
      return names.contains("null") ? "null" : names.first
    }
    return schema.string("type")
  }

  private static func members(of schema: JSONValue) -> JSONValue {
    guard case .object(let properties)? = schema.member("properties") else { return .object([]) }
    return .object(properties.map { ($0.0, value(of: $0.1)) })
  }

  /// By the names of the schemas.
  static let named: [String: JSONValue] = [
    "Status": ["status": "live"],
    "Info": [
      "version": "0.1.0", "environment": "sandbox",
      "listeners": ["provider": ["host": "127.0.0.1", "port": 2197]], "ca": "/home/me/certs/ca.pem",
      "certs": "/home/me/certs", "portsFile": nil, "needsAccess": false, "certificates": [.string(topic)],
      "lenient": false, "ephemeral": false, "seed": "7", "boot": "m4xk2p9q", "now": .string(now),
      "clock": clock, "counters": ["received": 1, "accepted": 1, "delivered": 1],
    ],
    "Clock": clock, "ClockChange": ["advance": "1m"], "Reset": ["what": ["feedback"]],
    "ResetDone": ["reset": ["feedback"]], "Deletion": ["deleted": 1],
    "TokenClaim": ["udid": .string(udid), "topic": .string(topic)],
    "StreamReceipt": ["ids": [1]], "StreamAcknowledgement": ["acknowledged": 1],
    "Disconnection": ["udid": .string(udid), "disconnected": true],
    "Connection": [
      "listener": "courier", "remoteAddress": "127.0.0.1:50123", "tlsVersion": "TLSv1.3",
      "cipher": "TLS_AES_256_GCM_SHA384", "serverName": nil, "proxy": nil, "alpn": "apns-security-v3",
      "peer": nil,
      "bytesRead": 2140, "bytesWritten": 310, "queuedBytes": 0, "devices": [.string(udid)],
    ],
    "Token": .object(row), "TokenDetail": .object(row + [("derivation", derivation)]), "Device": device,
    "Phone": phone, "PhoneEvent": phoneEvent, "PhoneNote": phoneNote,
    "PhoneEvents": ["events": [phoneEvent]], "PhoneOrder": ["lowPower": true],
    "PhoneQueued": ["queued": true],
    "CertificateOrder": ["topics": [.string(topic)], "format": "p12", "password": "secret"],
    "MadeCertificate": [
      "topics": [.string(topic)], "environment": "both", "certificate": "-----BEGIN CERTIFICATE-----…",
      "sha256": .string(sha256), "pkcs12Base64": "MIIJ…",
    ],
    "KeyOrder": ["team": "TEAM123456"],
    "MadeKey": [
      "keyId": "KEY1234567", "team": "TEAM123456", "topics": [], "environments": "both",
      "p8": "the text of AuthKey_KEY1234567.p8",
    ],
    "PushCertificate": [
      "topic": .string(topic), "moreTopics": [], "environment": "both", "single": false,
      "sha256": .string(sha256), "revoked": false,
    ],
    "TokenKey": [
      "keyId": "KEY1234567", "team": "TEAM123456", "topics": [], "environments": "both", "revoked": false,
    ],
    "RevokedCertificate": ["sha256": .string(sha256), "revoked": true],
    "RevokedKey": ["keyId": "KEY1234567", "revoked": true],
    "Channel": [
      "topic": .string(topic), "environment": "sandbox", "id": "AAECAwQFBgcICQoLDA0ODw==",
      "storesNewest": true, "listeners": 1, "newestAt": .string(now),
    ],
    "FeedbackEntry": [
      "timestamp": .string(now), "token": .string(token), "topic": .string(topic), "udid": .string(udid),
      "environment": "sandbox",
    ],
    "Notification": .object(notification),
    "Notifications": ["notifications": [.object(notification)], "next": 1],
    "NotificationDetail": .object(
      notification + [
        ("headers", [["name": "apns-topic", "value": .string(topic)]]), ("rawBase64", .string(apsBase64)),
        ("rawHex", "7b22617073223a7b22616c657274223a2248656c6c6f227d7d"),
      ]),
    "WaitTimeout": [
      "error": ["code": "timeout", "message": "0 of 1 notifications matched within 1000 ms"],
      "nearMisses": [nearMiss], "notifications": [], "next": 1,
    ],
    "NearMiss": nearMiss,
    "Wait": ["match": ["topic": .string(topic)], "count": 1, "timeoutMs": 1000],
    "TestPush": ["token": .string(token), "topic": .string(topic), "payload": aps],
    "Fault": shownFault, "Faults": ["faults": [shownFault], "presets": []], "FaultRequest": .object(fault),
    "State": [
      "version": 1, "apps": [["topic": .string(topic), "certificate": "both"]],
      "devices": [
        ["udid": .string(udid), "apps": [["topic": .string(topic), "token": .string(token)]]]
      ],
    ],
    "Cluster": [
      "name": "node-1", "cluster": nil, "ready": true, "because": nil,
      "engine": [
        "servers": ["nats://127.0.0.1:4222"], "connected": true, "because": nil, "waitingMs": 0,
      ], "zoneCount": 64, "nodes": [clusterNode], "missing": ["node-3"], "zones": [clusterZone],
    ],
    "ClusterNode": clusterNode, "ClusterZone": clusterZone, "ZoneMove": ["node": "node-2"],
    "NodeOrder": ["node": "node-2", "does": "drain"],
    "Imported": [
      "imported": [
        "apps": 1, "keys": 0, "devices": 1, "tokens": 1, "messages": 0, "channels": 0, "subscriptions": 0,
        "faults": 0,
      ]
    ],
  ]

  private static let clusterNode: JSONValue = [
    "name": "node-1", "ordinal": 2, "address": "127.0.0.1:40125", "console": "127.0.0.1:8790", "owned": 22,
    "devices": 5, "draining": false, "isThis": true,
  ]

  private static let clusterZone: JSONValue = [
    "zone": 3, "owner": "node-1", "seat": "here", "epoch": 1, "sequence": 9, "waitingBytes": 0,
    "moving": true, "trouble": nil,
  ]

  private static let clock: JSONValue = ["now": .string(now), "frozen": false, "offset": .number(0)]

  private static let row: [(String, JSONValue)] = [
    ("udid", .string(udid)), ("topic", .string(topic)), ("environment", "sandbox"),
    ("token", .string(token)),
    ("install", 1), ("state", "active"), ("issuedAt", .string(now)), ("goneAt", nil), ("online", true),
    ("installed", true), ("context", nil),
  ]

  private static let derivation: JSONValue = [
    "isOurs": true, "function": "HMAC-SHA256", "key": "the token secret of this emulator",
    "message": [["field": "udid", "hex": "70686f6e652d31"]],
  ]

  private static let device: JSONValue = [
    "udid": .string(udid), "online": true, "firstSeenAt": .string(now), "lastSeenAt": .string(now),
    "identity": 1,
    "connections": [
      [
        "environment": "sandbox", "by": "courier", "connectedAt": .string(now), "baseToken": .string(token),
        "enabledTopics": [.string(topic)],
      ]
    ],
    "topics": [
      [
        "topic": .string(topic), "context": nil, "environment": "sandbox", "token": .string(token),
        "install": 1,
        "state": "active", "installed": true, "enabled": true,
      ]
    ], "keptMessages": [],
  ]

  private static let phone: JSONValue = [
    "udid": .string(udid), "online": true, "queued": nil, "iosVersion": "26",
    "settings": [
      "locked": true, "lowPower": false, "language": "en", "network": true, "focus": nil,
    ],
    "screen": [
      "locked": true, "badge": [:], "lockScreen": [phoneNote], "banner": nil, "list": [],
      "foreground": nil, "expanded": nil, "prompt": nil, "call": nil, "activities": [],
      "island": nil,
    ],
    "apps": ["com.example.app": ["state": "suspended", "callbacks": ["M3", "M4", "M5"]]], "log": [phoneEvent],
  ]

  private static let phoneEvent: JSONValue = [
    "at": .string(now), "event": "presented", "topic": .string(topic), "detail": "lock screen, list",
    "rule": "system-shows", "evidence": "A",
    "reason": "an app that is not in the foreground: the system shows it", "notificationId": 1,
    "phoneNote": 1,
  ]

  private static let phoneNote: JSONValue = [
    "id": 1, "topic": .string(topic), "title": nil, "subtitle": nil, "body": "Hello", "image": nil,
    "thread": nil, "category": nil, "level": "active", "at": .string(now), "actions": [],
    "notificationId": 1, "isLocal": false, "custom": nil,
  ]

  private static let notification: [(String, JSONValue)] = [
    ("id", 1), ("receivedAt", .string(now)), ("interface", "provider"), ("command", nil), ("identifier", nil),
    ("apnsId", "EC1BF194-B3B2-424B-89A9-5A918A6E6B5C"), ("topic", .string(topic)), ("environment", "sandbox"),
    ("token", .string(token)), ("udid", .string(udid)), ("pushType", "alert"), ("priority", 10),
    ("expiration", nil), ("collapseId", nil), ("channelId", nil), ("payload", aps),
    ("payloadBase64", .string(apsBase64)),
    (
      "verdict",
      [
        "accepted": true, "status": 200, "reason": nil, "legacyStatus": 0, "explanation": nil, "fault": nil,
      ]
    ), ("state", "delivered"),
    (
      "timeline",
      [
        ["at": .string(now), "event": "received", "detail": "by the provider interface"],
        ["at": .string(now), "event": "acknowledged", "detail": "by the device"],
      ]
    ),
  ]

  private static let nearMiss: JSONValue = [
    "notification": .object(notification),
    "failed": [["filter": "state", "expected": "stored", "actual": "delivered"]],
  ]

  private static let fault: [(String, JSONValue)] = [
    ("name", "slow"), ("match", ["topic": .string(topic)]), ("when", ["next": 3]),
    ("effect", ["delayMs": 500]),
  ]

  private static let shownFault = JSONValue.object(
    fault + [("enabled", true), ("hits", 0), ("seen", 0)])

  // MARK: Activation

  /// What a device posts (`Documentation/device-protocol.md#activation`): a property list in a form, with another one
  /// in it that has the certificate request.
  private static var activationForm: String {
    let information = plist(
      "<key>UniqueDeviceID</key><string>\(udid)</string>" + data("DeviceCertRequest", csr))
    return "activation-info=" + percentEncoded(plist(data("ActivationInfoXML", information)))
  }

  private static func plist(_ members: String) -> String {
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><plist version=\"1.0\"><dict>\(members)</dict></plist>"
  }

  private static func data(_ name: String, _ text: String) -> String {
    "<key>\(name)</key><data>\(Base64.encode(Array(text.utf8)))</data>"
  }

  private static func percentEncoded(_ text: String) -> String {
    text.utf8.map { byte in
      let isPlain = Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber
      return isPlain ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte])
    }.joined()
  }

  /// For a key that nobody has any more.
  private static let csr = """
    -----BEGIN CERTIFICATE REQUEST-----
    MIIBUTCBuwIBADASMRAwDgYDVQQDDAdwaG9uZS0xMIGfMA0GCSqGSIb3DQEBAQUA
    A4GNADCBiQKBgQCnlp+KAyNrP/UI8baeYh4GUV+upWyoQJGPl++zlxELtq5g8di3
    3ABhvGNhaIZlE+/ONwLvbT5kdwCDCzPO7qm+c/faIiOw0ioBFbt8HvkZw70KTB/r
    I9GslEopLh2ZoI0Imsj2664ctkwJ49M820BDS4Wo9iX10qvRqqEGzAsIvwIDAQAB
    oAAwDQYJKoZIhvcNAQELBQADgYEAYNQk2D1v7v6vZLioKiNXix/7AGuSllaA8fhc
    z7QnUopcUK5hYtMaG42s9XRRZUjiTTEBkJcptYRxF5iAMxYlqRRWQPsc6SoVLI+8
    /YjCx+EeqI36zRNoqPk0Livjt3vFhBfMPxKMjaPlz4CyXNJkxmTKt3fBJKOdYDjO
    g5IPZjc=
    -----END CERTIFICATE REQUEST-----

    """
}
