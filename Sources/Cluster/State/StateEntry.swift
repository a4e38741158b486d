import Broker
import PushModel

/// One change of a zone's state, as it lies in the log: its kind, and what is so from now on, by names.
enum StateEntry {
  enum Kind: UInt8 {
    case startsOver = 1
    case topic, device, registration, message, noMessage, channel, noChannel, broadcast, subscription,
      noSubscription
  }

  static func write(_ device: Device, to out: inout StateWriter) {
    out.write(Kind.device.rawValue)
    out.write(device.udid.text)
    out.write(device.identity)
    out.write(device.keyFingerprint)
    out.write(device.firstSeenAt)
    out.write(device.lastSeenAt)
  }

  static func device(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> ReplicaDevice {
    ReplicaDevice(
      udid: try udid(&cursor), identity: try cursor.integer(in: Device.identities, "an identity"),
      keyFingerprint: Array(try cursor.counted()), firstSeenAt: try cursor.time(),
      lastSeenAt: try cursor.time())
  }

  static func write(_ topic: Topic, to out: inout StateWriter) {
    out.write(Kind.topic.rawValue)
    out.write(topic.name)
  }

  // MARK: Tokens

  static func write(_ id: RegistrationID, of registry: Registry, to out: inout StateWriter) {
    let (row, topic) = (registry[id], registry[registry[id].topic])
    out.write(Kind.registration.rawValue)
    out.write(row.token)
    out.write(registry[row.device].udid.text)
    out.write(topic.hash)
    out.write(topic.name?.name ?? "")
    out.write(registry.context(of: id)?.text ?? "")
    out.write(row.isChosen ? registry.bytes(of: id) : [])
    out.write(row.install)
    out.write(row.environment.rawValue)
    out.write(row.isAbandoned)
    out.write(row.awaitsFeedback)
    out.write(row.issuedAt)
    out.write(row.goneAt)
  }

  static func registration(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> ReplicaRegistration {
    let (token, udid, hash) = (try cursor.token(), try udid(&cursor), try cursor.topicHash())
    let (name, context, chosen) = (try cursor.text(), try cursor.text(), Array(try cursor.counted()))
    var row = ReplicaRegistration(
      token: token, udid: udid, topic: hash,
      install: try cursor.integer(in: Registration.installs, "an install"),
      environment: try environment(&cursor), issuedAt: .never)
    row.topicName = name.isEmpty ? nil : try cursor.value(Topic(name), "a topic")
    row.context = context.isEmpty ? nil : try cursor.value(TokenContext(context), "a token's context")
    row.chosen = chosen.isEmpty ? nil : try cursor.value(ChosenToken(bytes: chosen), "a chosen token")
    (row.isAbandoned, row.awaitsFeedback) = (try cursor.flag(), try cursor.flag())
    (row.issuedAt, row.goneAt) = (try cursor.time(), try cursor.time())
    return row
  }

  // MARK: Messages

  /// The message of a row, or that there is none.
  static func writeMessage(_ row: RegistrationID, of broker: Broker, to out: inout StateWriter) {
    let token = broker.registry[row].token
    guard let message = broker.keptMessage(row) else {
      out.write(Kind.noMessage.rawValue)
      return out.write(token)
    }
    out.write(Kind.message.rawValue)
    out.write(token)
    out.write(message.head.id)
    out.write(message.head.receivedAt)
    out.write(message.head.expiresAt)
    out.write(message.head.apnsId.0)
    out.write(message.head.apnsId.1)
    out.write(message.head.expiry)
    out.write(message.head.priority.byte(isSaid: message.head.saysPriority))
    out.write(message.head.pushType?.rawValue ?? .max)
    out.write(message.content.collapseId)
    out.write(message.content.payload)
  }

  static func head(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> MessageHead {
    var head = MessageHead(
      id: try cursor.integer(), receivedAt: try cursor.time(), expiresAt: try cursor.time(),
      apnsId: (try cursor.integer(), try cursor.integer()), expiry: try cursor.integer())
    (head.priority, head.saysPriority) = try cursor.value(Priority.read(try cursor.integer()), "a priority")
    let type = try cursor.integer(UInt8.self)
    head.pushType = type == .max ? nil : try cursor.value(PushType(rawValue: type), "a push type")
    return head
  }

  // MARK: Channels

  static func write(_ key: ChannelTable.Key, of registry: Registry, as kind: Kind, to out: inout StateWriter)
  {
    out.write(kind.rawValue)
    out.write(registry[key.topic].hash)
    out.write(registry[key.topic].name?.name ?? "")
    out.write(key.environment.rawValue)
    out.write(key.id)
  }

  /// The names of a channel.
  struct ChannelName: Hashable {
    var topic: TopicHash
    var name: Topic?
    var environment: Environment
    var id: [UInt8]
  }

  static func channel(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> ChannelName {
    let (hash, name) = (try cursor.topicHash(), try cursor.text())
    return ChannelName(
      topic: hash, name: name.isEmpty ? nil : try cursor.value(Topic(name), "a topic"),
      environment: try environment(&cursor), id: Array(try cursor.counted()))
  }

  static func write(_ broadcast: ChannelTable.Broadcast, to out: inout StateWriter) {
    out.write(broadcast.id)
    out.write(broadcast.payload)
    out.write(broadcast.priority.rawValue)
    out.write(broadcast.sentAt)
    out.write(broadcast.expiresAt)
    out.write(broadcast.expiry)
  }

  static func broadcast(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> ChannelTable.Broadcast {
    ChannelTable.Broadcast(
      id: try cursor.integer(), payload: Array(try cursor.counted()), priority: try priority(&cursor),
      sentAt: try cursor.time(), expiresAt: try cursor.time(), expiry: try cursor.integer())
  }

  // MARK: Words

  static func udid(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> UDID {
    try cursor.value(UDID(try cursor.text()), "a UDID")
  }

  private static func environment(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> Environment {
    try cursor.value(Environment(rawValue: try cursor.integer()), "an environment")
  }

  private static func priority(_ cursor: inout StateCursor) throws(StateCursor.Damage) -> Priority {
    try cursor.value(Priority(rawValue: try cursor.integer()), "a priority")
  }
}
