import Basics
import CourierWire
import PushModel

/// What a simulated device tells whoever watches it.
package enum DeviceEvent: Equatable, Sendable {
  /// It has a certificate of its own now.
  case activated(UDID)
  /// The service knows it.
  case connected(baseToken: DeviceToken)
  /// An app, or one context of a topic, has a token: the first time in a run, and when it changes.
  case token(TokenNeed, DeviceToken)
  /// The service gives none.
  case tokenRefused(TokenNeed, status: UInt8)
  /// The token of a context has ended.
  case tokenEnded(TokenNeed)
  case notification(DeviceNotification)
  /// Something was done to an app.
  case app(Topic, AppStateChange.Action)
  /// The whole device was erased: its apps are gone.
  case erased(UDID)
  /// The whole device is another one now, with the same apps.
  case restored(UDID)
  /// The connection has ended, or did not come about.
  case disconnected(reason: String)
}

/// A notification that has reached the device.
package struct DeviceNotification: Equatable, Sendable {
  package var topic: Topic
  /// What of the topic the token is for; nil for all of it.
  package var context: TokenContext?
  /// The broadcast channel that it came through.
  package var channel: [UInt8]?
  /// The token it was addressed to.
  package var token: DeviceToken
  /// The provider's identifier, if the service tells it.
  package var apnsId: String?
  /// 1, 5 or 10.
  package var priority: UInt8?
  /// Whether the provider named it, if the service tells.
  package var saysPriority: Bool
  /// When the service would have given it up; nil for never.
  package var expiration: Timestamp?
  /// When the service had accepted it, on the service's clock, if it tells.
  package var acceptedAt: Timestamp?
  package var payload: [UInt8]
  /// What the provider said, if the service tells it.
  package var pushType: PushType?
  package var collapseId: String?
  /// What the emulator's history calls it, if the device has a phone.
  package var notificationId: UInt64?
  /// Whether the service kept it while the device was offline.
  package var isFromStore: Bool

  package init(_ message: CourierMessage, topic: Topic, context: TokenContext? = nil) {
    (self.topic, self.context) = (topic, context)
    token = message.token
    apnsId = message.tracingIdentifier.flatMap(Self.identifier)
    priority = message.priority
    expiration = message.expiry.flatMap { seconds in
      seconds == CourierMessage.noExpiry ? nil : Timestamp(seconds: Int64(seconds))
    }
    acceptedAt = message.timestamp.flatMap(Int64.init(exactly:)).map(Timestamp.init(nanoseconds:))
    payload = message.payload
    (pushType, saysPriority) = (message.saidPushType, message.saysPriority)
    collapseId = message.collapseId
    channel = message.channel?.id
    notificationId = message.notificationId
    isFromStore = message.isFromStore
  }

  /// The identifier in canonical form. Sources disagree whether it travels as 16 bytes or as text
  /// (`Documentation/device-protocol.md#message`), so both are read.
  private static func identifier(_ bytes: [UInt8]) -> String? {
    switch bytes.count {
    case 16:
      let groups = [0..<4, 4..<6, 6..<8, 8..<10, 10..<16]
      return groups.map { Hex.encode(bytes[$0]) }.joined(separator: "-")
    case 36: return String(validating: bytes, as: UTF8.self)
    default: return nil
    }
  }
}

extension DeviceEvent {
  /// One JSON object without a line break, as scripts read it (`Documentation/commands.md#events-of-a-device`).
  package var jsonLine: String { json.text }

  /// The same, and of which environment the connection is that it happened on.
  package func jsonLine(of environment: Environment) -> String {
    guard case .object(let members) = json else { return jsonLine }
    return JSONValue.object(members + [("environment", .string(environment.name))]).text
  }

  private var json: JSONValue {
    switch self {
    case .activated(let udid): ["event": "activated", "udid": .string(udid.text)]
    case .connected(let baseToken): ["event": "connected", "baseToken": .string(baseToken.hex)]
    case .token(let need, let token): need.json("token", ("token", .string(token.hex)))
    case .tokenRefused(let need, let status):
      need.json("tokenRefused", ("status", .integer(Int64(status))))
    case .tokenEnded(let need): need.json("tokenEnded")
    case .notification(let notification): notification.json
    case .app(let topic, let action):
      ["event": "app", "topic": .string(topic.name), "action": .string(action.name)]
    case .erased(let udid): ["event": "erased", "udid": .string(udid.text)]
    case .restored(let udid): ["event": "restored", "udid": .string(udid.text)]
    case .disconnected(let reason): ["event": "disconnected", "reason": .string(reason)]
    }
  }
}

extension TokenNeed {
  fileprivate func json(_ event: String, _ more: (String, JSONValue)...) -> JSONValue {
    let context = context.map { [("context", JSONValue.string($0.text))] } ?? []
    return .object([("event", .string(event)), ("topic", .string(topic.name))] + context + more)
  }

  fileprivate var text: String { topic.name + (context.map { "  \($0)" } ?? "") }
}

extension DeviceNotification {
  /// What only some have stands at the end, and only where there is some.
  fileprivate var json: JSONValue {
    let said = [
      ("pushType", pushType?.name), ("collapseId", collapseId), ("context", context?.text),
      ("channel", channel.map(Base64.encode)),
    ]
    return .object(common + said.compactMap { name, text in text.map { (name, .string($0)) } })
  }

  private var common: [(String, JSONValue)] {
    [
      ("event", "notification"), ("topic", .string(topic.name)), ("token", .string(token.hex)),
      ("apnsId", .optional(apnsId)), ("priority", .optional(priority)), ("expiration", .optional(expiration)),
      ("payload", JSONText.compact(payload).map(JSONValue.verbatim) ?? .null),
      ("payloadBase64", .string(Base64.encode(payload))), ("fromStore", .bool(isFromStore)),
    ]
  }
}

extension DeviceEvent {
  /// One line for people.
  package var textLine: String {
    switch self {
    case .activated(let udid): "activated     \(udid)"
    case .connected(let baseToken): "connected     base token \(baseToken.hex)"
    case .token(let need, let token): "token         \(need.text)  \(token.hex)"
    case .tokenRefused(let need, let status): "no token      \(need.text)  refused with status \(status)"
    case .tokenEnded(let need): "token ended   \(need.text)"
    case .notification(let notification): "notification  \(notification.text)"
    case .app(let topic, let action): "app           \(topic)  \(action.name)"
    case .erased(let udid): "erased        \(udid)"
    case .restored(let udid): "restored      \(udid)"
    case .disconnected(let reason): "disconnected  \(reason.visible)"
    }
  }
}

extension DeviceNotification {
  fileprivate var text: String {
    let content =
      JSONText.compact(payload).map { String(decoding: $0, as: UTF8.self).visible }
      ?? "\(payload.count) bytes that are not JSON"
    return "\(topic)  \(content)\(isFromStore ? "  (stored while offline)" : "")"
  }
}
