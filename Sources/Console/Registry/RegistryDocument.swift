import Basics
import Broker
import ConsoleAnswers
import PushModel

/// A row of the token map with what it refers to, as the API shows it.
struct TokenDocument: JSONAnswer {
  /// Whether pushes to the token are still taken.
  enum State: String, JSONWord { case active, gone }

  fileprivate let registry: Registry
  fileprivate let id: RegistrationID
  fileprivate let registration: Registration
  fileprivate let device: Device

  init(_ id: RegistrationID, _ registry: Registry) {
    (self.id, self.registry, registration) = (id, registry, registry[id])
    device = registry[registration.device]
  }

  static func state(_ registration: Registration) -> State { registration.isActive ? .active : .gone }

  fileprivate var topic: TopicEntry { registry[registration.topic] }
  /// Removed apps stay active until the device reports them (`Documentation/binary-protocol.md#feedback`).
  fileprivate var isInstalled: Bool { registration.isActive && !registration.isAbandoned }
  fileprivate var session: DeviceSession? { device.session(in: registration.environment) }
}

/// What several documents say of a row.
extension JSONMember<TokenDocument> {
  fileprivate static let topic = show(JSONExample.topic) { $0.topic.label }
  /// What of its topic a token is for; null for all of it.
  fileprivate static let context = show { $0.registry.context(of: $0.id)?.text }
  fileprivate static let environment = show { $0.registration.environment }
  fileprivate static let token = show(JSONExample.token, as: .digits) { $0.registry.text(of: $0.id) }
  fileprivate static let install = show(1) { $0.registration.install }
  fileprivate static let state = show { TokenDocument.state($0.registration) }
  fileprivate static let isInstalled = show(true) { $0.isInstalled }
}

extension TokenDocument {
  static let shape = JSONShape<TokenDocument>([
    "udid": .show(JSONExample.udid) { $0.device.udid.text }, "topic": .topic, "environment": .environment,
    "token": .token, "install": .install, "state": .state, "issuedAt": .show { $0.registration.issuedAt },
    "goneAt": .show { $0.registration.isActive ? nil : $0.registration.goneAt },
    "online": .show(true) { $0.session != nil }, "installed": .isInstalled, "context": .context,
  ]).named("Token")

  /// As one of its device's topics.
  fileprivate static let topicShape: JSONShape<TokenDocument> = [
    "topic": .topic, "context": .context, "environment": .environment, "token": .token, "install": .install,
    "state": .state, "installed": .isInstalled,
    "enabled": .show(true) {
      $0.registration.isActive && $0.session?.enabled.contains($0.topic.hash) ?? false
    },
  ]

  /// As a notification's.
  fileprivate static let address: JSONShape<TokenDocument> = [
    "topic": .topic, "environment": .environment, "token": .token,
  ]
}

/// The notification of one row that waits, or is on its way and not yet acknowledged.
private struct StoredDocument: JSONAnswer {
  let row: TokenDocument
  let stored: StoredNotification

  static let shape: JSONShape<StoredDocument> =
    ["id": .show(1) { $0.stored.head.id }] + TokenDocument.address.of(\.row) + [
      "receivedAt": .show { $0.stored.head.receivedAt }, "expiresAt": .show { $0.stored.head.expiresAt },
      "priority": .show(10) { $0.stored.head.priority.rawValue },
      "pushType": .show("alert") { ($0.stored.head.pushType ?? .alert).name },
      "collapseId": .show { $0.stored.content.collapseText },
      "payload": .payload { Array($0.stored.payload) },
      "payloadBase64": .payloadBase64 { Array($0.stored.payload) },
    ]
}

/// A device with its connections, its topics and the notifications stored for it.
struct DeviceDocument {
  private let broker: Broker
  private let id: DeviceID
  private let device: Device
  private var registry: Registry { broker.registry }

  init(_ id: DeviceID, _ broker: Broker) {
    (self.id, self.broker, device) = (id, broker, broker.registry[id])
  }

  static let shape = JSONShape<DeviceDocument>([
    "udid": .show(JSONExample.udid) { $0.device.udid.text }, "online": .show(true) { $0.device.isOnline },
    "firstSeenAt": .show { $0.device.firstSeenAt }, "lastSeenAt": .show { $0.device.lastSeenAt },
    "identity": .show(1) { $0.device.identity },
    "connections": .show { shown in
      Environment.allCases.compactMap { shown.device.session(in: $0) }.map {
        SessionDocument(session: $0, registry: shown.registry)
      }
    }, "topics": .elsewhere(TokenDocument.topicShape.schema.list),
    // Nothing waits for a device that is online.
    "keptMessages": .elsewhere(StoredDocument.schema.list.showing([])),
  ]).named("Device")

  /// Row for row, as there may be many.
  var growing: [GrowingDocument.Member] {
    let rows = registry.registrations(of: id).reversed()
    let areThere = registry.holdsRows
    return .values(Self.shape.written(self)) + [
      .list("topics", of: rows, while: areThere) { [registry] row in
        .value(TokenDocument.topicShape.write(TokenDocument(row, registry)))
      },
      .list("keptMessages", of: rows, while: areThere) { [broker] row in
        broker.deliveries.stored(row).map {
          .value(StoredDocument(row: TokenDocument(row, broker.registry), stored: $0).json)
        } ?? .nothing
      },
    ]
  }
}

extension DeviceWay: JSONWord {}

/// A connection of a device.
private struct SessionDocument: JSONAnswer {
  let session: DeviceSession
  let registry: Registry

  static let shape: JSONShape<SessionDocument> = [
    "environment": .show { $0.session.environment }, "by": .show { $0.session.outlet.way },
    "connectedAt": .show { $0.session.connectedAt },
    "baseToken": .show(JSONExample.token, as: .digits) {
      $0.registry.baseToken($0.session.device, $0.session.environment).hex
    },
    "enabledTopics": .show([JSONExample.topic]) { $0.session.enabled.map($0.registry.label) },
  ]
}

extension Registry {
  /// What the topic is called of which a device has told the hash.
  package func label(_ hash: TopicHash) -> String {
    knownTopic(hashed: hash).map { self[$0].label } ?? "sha1:\(hash.hex)"
  }
}

/// A broadcast channel.
struct ChannelDocument: JSONAnswer {
  let key: ChannelTable.Key
  let broker: Broker

  static let shape = JSONShape<ChannelDocument>([
    "topic": .show(JSONExample.topic) { $0.broker.registry[$0.key.topic].label },
    "environment": .show { $0.key.environment },
    "id": .show("AAECAwQFBgcICQoLDA0ODw==") { Base64.encode($0.key.id) },
    "storesNewest": .show(true) { $0.broker.channels.storesNewest($0.key) ?? false },
    "listeners": .show(1) { $0.broker.channels.listenerCount($0.key) },
    "newestAt": .show(JSONExample.now) { $0.broker.channels.newest($0.key)?.sentAt },
  ]).named("Channel")
}

/// An entry of the feedback service.
struct FeedbackDocument: JSONAnswer {
  private let goneAt: Timestamp
  private let token: String
  private let topic: String
  /// nil for a token that another service has issued.
  private var udid: String?
  private let environment: Environment

  init(_ row: RegistrationID, _ registry: Registry) {
    let registration = registry[row]
    (goneAt, token) = (registration.goneAt, registry.text(of: row))
    (topic, environment) = (registry[registration.topic].label, registration.environment)
    udid = registry[registration.device].udid.text
  }

  init(_ entry: ForeignFeedback.Entry, _ registry: Registry) {
    (goneAt, token) = (entry.goneAt, Hex.encode(entry.token))
    (topic, environment) = (registry[entry.topic].label, entry.environment)
  }

  static let shape = JSONShape<FeedbackDocument>([
    "timestamp": .show { $0.goneAt }, "token": .show(JSONExample.token, as: anyToken) { $0.token },
    "topic": .show(JSONExample.topic) { $0.topic }, "udid": .show(JSONExample.udid) { $0.udid },
    "environment": .show { $0.environment },
  ]).named("FeedbackEntry")

  /// Of a token of another service, which may have any length.
  private static let anyToken = JSONKind<String>.text.described(as: RouteParameter.token.schema.definition)
}
