import PushModel

extension DeviceEvent {
  /// One JSON object without a line break, as scripts read it (`Documentation/commands.md#by-hand`).
  public var jsonLine: String { json.text }

  private var json: JSONValue {
    switch self {
    case .activated(let udid): ["event": "activated", "udid": .string(udid.text)]
    case .connected(let baseToken): ["event": "connected", "baseToken": .string(baseToken.hex)]
    case .token(let topic, let token):
      ["event": "token", "topic": .string(topic.name), "token": .string(token.hex)]
    case .tokenRefused(let topic, let status):
      ["event": "tokenRefused", "topic": .string(topic.name), "status": .integer(Int64(status))]
    case .notification(let notification): notification.json
    case .app(let topic, let action):
      ["event": "app", "topic": .string(topic.name), "action": .string(action.name)]
    case .erased(let udid): ["event": "erased", "udid": .string(udid.text)]
    case .disconnected(let reason): ["event": "disconnected", "reason": .string(reason)]
    }
  }
}

extension DeviceNotification {
  fileprivate var json: JSONValue {
    [
      "event": "notification", "topic": .string(topic.name), "token": .string(token.hex),
      "apnsId": .optional(apnsId), "priority": .optional(priority), "expiration": .optional(expiration),
      "payload": JSONText.compact(payload).map(JSONValue.verbatim) ?? .null,
      "payloadBase64": .string(Base64.encode(payload)), "fromStore": .bool(isFromStore),
    ]
  }
}
