import Broker
import PushModel

/// Rows of the token map and devices as the API shows them.
struct RegistryDocument {
  let broker: Broker
  private var registry: Registry { broker.registry }

  /// A row of the token map.
  func token(_ row: RegistrationID) -> JSONValue {
    let registration = registry[row]
    let device = registry[registration.device]
    let goneAt = registration.isActive ? nil : registration.goneAt
    return [
      "udid": .string(device.udid.text),
      "topic": .string(registry[registration.topic].label),
      "environment": .string(registration.environment.name), "token": .string(registry.text(of: row)),
      "install": .integer(Int64(registration.install)), "state": .string(Self.state(registration)),
      "issuedAt": .string(registration.issuedAt.rfc3339), "goneAt": .optional(goneAt),
      "online": .bool(device.session(in: registration.environment) != nil),
      // Removed apps stay active until the device reports them (`Documentation/binary-protocol.md#feedback`).
      "installed": .bool(registration.isActive && !registration.isAbandoned),
      "context": context(row),
    ]
  }

  /// What of its topic a token is for; null for all of it.
  private func context(_ row: RegistrationID) -> JSONValue {
    .optional(registry.context(of: row)?.text)
  }

  static func state(_ registration: Registration) -> String { registration.isActive ? "active" : "gone" }

  /// A device with its connections, its topics and the messages kept for it.
  func device(_ id: DeviceID) -> [GrowingDocument.Member] {
    let device = registry[id]
    let rows = Array(registry.registrations(of: id).reversed())
    return [
      .value("udid", .string(device.udid.text)), .value("online", .bool(device.isOnline)),
      .value("firstSeenAt", .string(device.firstSeenAt.rfc3339)),
      .value("lastSeenAt", .string(device.lastSeenAt.rfc3339)),
      .value("identity", .integer(Int64(device.identity))),
      .value(
        "connections",
        .array(Environment.allCases.compactMap { device.session(in: $0) }.map(connection))),
      list("topics", rows) { topic($0, device) }, list("keptMessages", rows, keptMessage),
    ]
  }

  /// What `make` makes of a device's rows, as long as they are there.
  private func list(
    _ name: String, _ rows: [RegistrationID], _ make: @escaping (RegistrationID) -> JSONValue?
  ) -> GrowingDocument.Member {
    var rest = rows[...]
    let generation = registry.generation
    return .list(name) { [registry] _ in
      guard generation == registry.generation, let row = rest.popFirst() else { return .end }
      return make(row).map { .value($0) } ?? .nothing
    }
  }

  private func connection(_ session: DeviceSession) -> JSONValue {
    let baseToken = registry.baseToken(session.device, session.environment)
    return [
      "environment": .string(session.environment.name), "by": .string(session.outlet.way.rawValue),
      "connectedAt": .string(session.connectedAt.rfc3339), "baseToken": .string(baseToken.hex),
      "enabledTopics": .array(session.enabled.map { .string(label($0)) }),
    ]
  }

  private func label(_ hash: TopicHash) -> String {
    guard let topic = registry.knownTopic(hashed: hash) else { return "sha1:\(hash.hex)" }
    return registry[topic].label
  }

  private func topic(_ row: RegistrationID, _ device: Device) -> JSONValue {
    let registration = registry[row]
    let topic = registry[registration.topic]
    let session = device.session(in: registration.environment)
    return [
      "topic": .string(topic.label), "context": context(row),
      "environment": .string(registration.environment.name), "token": .string(registry.text(of: row)),
      "install": .integer(Int64(registration.install)),
      "state": .string(Self.state(registration)),
      "installed": .bool(registration.isActive && !registration.isAbandoned),
      "enabled": .bool(registration.isActive && session?.enabled.contains(topic.hash) ?? false),
    ]
  }

  /// The message of one row that waits, or is on its way and not yet acknowledged.
  private func keptMessage(_ row: RegistrationID) -> JSONValue? {
    guard let kept = broker.deliveries.stored(row) else { return nil }
    let registration = registry[row]
    return [
      "id": .integer(Int64(clamping: kept.head.id)),
      "topic": .string(registry[registration.topic].label),
      "environment": .string(registration.environment.name), "token": .string(registry.text(of: row)),
      "receivedAt": .string(kept.head.receivedAt.rfc3339), "expiresAt": .string(kept.head.expiresAt.rfc3339),
      "priority": .integer(Int64(kept.head.priority.rawValue)),
      "pushType": .string((kept.head.pushType ?? .alert).name),
      "collapseId": .optional(kept.content.collapseText),
      "payload": JSONText.compact(kept.payload).map(JSONValue.verbatim) ?? .null,
      "payloadBase64": .string(Base64.encode(kept.payload)),
    ]
  }

  /// A broadcast channel.
  func channel(_ key: ChannelTable.Key) -> JSONValue {
    [
      "topic": .string(registry[key.topic].label),
      "environment": .string(key.environment.name), "id": .string(Base64.encode(key.id)),
      "storesNewest": .bool(broker.channels.storesNewest(key) ?? false),
      "listeners": .integer(Int64(broker.channels.listenerCount(key))),
      "newestAt": .optional(broker.channels.newest(key)?.sentAt),
    ]
  }

  /// An entry of the feedback service on a token that another service has issued.
  func feedback(_ entry: ForeignFeedback.Entry) -> JSONValue {
    [
      "timestamp": .string(entry.goneAt.rfc3339), "token": .string(Hex.encode(entry.token)),
      "topic": .string(registry[entry.topic].label), "udid": nil,
      "environment": .string(entry.environment.name),
    ]
  }

  /// An entry of the feedback service.
  func feedback(_ row: RegistrationID) -> JSONValue {
    let registration = registry[row]
    return [
      "timestamp": .string(registration.goneAt.rfc3339), "token": .string(registry.text(of: row)),
      "topic": .string(registry[registration.topic].label),
      "udid": .string(registry[registration.device].udid.text),
      "environment": .string(registration.environment.name),
    ]
  }
}
