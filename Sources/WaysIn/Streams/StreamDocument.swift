import Basics
import Broker
import Console
import PushModel

/// What a stream tells its reader, as events whose data is JSON (`Documentation/console-api.md#devices-without-a-device-client`).
struct StreamDocument {
  let broker: Broker
  private var registry: Registry { broker.registry }

  /// The first event: which device it is, and by which tokens it is reached.
  func registered(_ session: DeviceSession, _ topics: [TopicHash], now: Timestamp) -> [UInt8] {
    let wanted = Set(topics)
    let rows = registry.installed(on: session.device).filter {
      registry[$0].environment == session.environment && wanted.contains(registry[registry[$0].topic].hash)
    }
    return event(
      "registered", now,
      [
        ("udid", .string(registry[session.device].udid.text)),
        ("environment", .string(session.environment.name)), ("tokens", .array(rows.map(token))),
      ])
  }

  private func token(_ row: RegistrationID) -> JSONValue {
    [
      "topic": .string(registry[registry[row].topic].label),
      "context": .optional(registry.context(of: row)?.text), "token": .string(registry.text(of: row)),
    ]
  }

  /// A notification, under its id.
  func push(_ message: OutgoingNotification, now: Timestamp) -> [UInt8] {
    let row = registry.find(message.token)
    let head = message.head
    return event(
      id: String(head.id), "push", now,
      [
        ("id", .integer(Int64(clamping: head.id))), ("topic", .string(registry.label(message.topic))),
        ("context", .optional(row.flatMap { registry.context(of: $0)?.text })),
        ("token", .string(row.map(registry.text) ?? message.token.hex)),
        ("pushType", .string((head.pushType ?? .alert).name)),
        ("priority", .integer(Int64(head.priority.rawValue))),
        ("apnsId", .optional(APNSID(words: head.apnsId)?.description)),
        ("collapseId", .optional(message.content.collapseText)),
        ("expiration", head.expiry == .max ? .null : .integer(Int64(head.expiry))),
        ("receivedAt", .string(head.receivedAt.rfc3339)), ("kept", .bool(message.origin != .fresh)),
      ] + payload(message.content.payload))
  }

  /// A broadcast of a channel that the device listens to.
  func broadcast(
    _ broadcast: ChannelTable.Broadcast, channel: [UInt8], topic: TopicHash, now: Timestamp
  ) -> [UInt8] {
    event(
      id: String(broadcast.id), "broadcast", now,
      [
        ("id", .integer(Int64(clamping: broadcast.id))), ("topic", .string(registry.label(topic))),
        ("channel", .string(Base64.encode(channel))),
        ("priority", .integer(Int64(broadcast.priority.rawValue))),
        ("sentAt", .string(broadcast.sentAt.rfc3339)),
      ] + payload(broadcast.payload.span))
  }

  /// What a person did to an app, or to the phone.
  func app(_ topic: TopicHash, _ change: AppChange, of session: DeviceSession, now: Timestamp) -> [UInt8] {
    guard !change.isOfPhone, let known = registry.knownTopic(hashed: topic) else {
      return event("app", now, [("change", .string(change.rawValue)), ("topic", .null), ("token", .null)])
    }
    let row = registry.installed(session.device, known, session.environment)
    return event(
      "app", now,
      [
        ("change", .string(change.rawValue)), ("topic", .string(registry[known].label)),
        ("token", .optional(row.map(registry.text))),
      ])
  }

  /// The last event.
  func end(_ reason: String, now: Timestamp) -> [UInt8] { event("end", now, [("because", .string(reason))]) }

  private func payload(_ bytes: Span<UInt8>) -> [(String, JSONValue)] {
    [
      ("payload", JSONText.compact(Array(bytes)).map(JSONValue.verbatim) ?? .null),
      ("payloadBase64", .string(Base64.encode(bytes))),
    ]
  }

  private func event(id: String? = nil, _ name: String, _ now: Timestamp, _ members: [(String, JSONValue)])
    -> [UInt8]
  {
    ServerSentEvent.bytes(id: id, name, EventDocument.object(name, now, members))
  }
}
