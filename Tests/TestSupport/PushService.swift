import Basics
import Broker
import PushModel

/// A push service as peers see it, whether one broker is behind it or several nodes are: what they do at random is done to both, and
/// must look the same. Each call is a turn that has been committed when it returns.
package protocol PushService: AnyObject {
  var now: Timestamp { get set }
  /// Devices that are connected, each on a connection of its own.
  var phones: [UDID: TestDevice] { get set }
  /// The broker whose word counts for a device.
  func leader(of udid: UDID) throws -> Broker
  func endTurn() throws
  /// Takes a push; answers why it was refused, nil if it was not.
  func submit(_ push: PushOrder) throws -> Rejection?
  /// What became of a push, by its place among those that were submitted.
  func state(ofPush number: Int) -> NotificationState?
  func createChannel(_ name: ChannelName, storesNewest: Bool) throws
  /// False if there is no such channel.
  func deleteChannel(_ name: ChannelName) throws -> Bool
  /// False if there is no such channel.
  func broadcast(_ text: String, to name: ChannelName, expiration: UInt32) throws -> Bool
  /// What the feedback service tells of a topic; it is told once.
  func readFeedback(_ topic: Topic) throws -> Set<DeviceToken>
  /// Drops messages whose time is over.
  func sweep() throws
  /// Something that no peer may notice but by the end of its connection; answers whose have ended.
  func stir(_ choices: inout SeededChoices) throws -> [UDID]
}

/// A push as a provider sends it.
package struct PushOrder: Sendable {
  package var token: [UInt8]
  package var topic: Topic
  package var text: String
  package var interface = Interface.gateway
  package var expiration: UInt32?
  package var collapseId = ""

  package init(token: [UInt8], topic: Topic, text: String) {
    (self.token, self.topic, self.text) = (token, topic, text)
  }

  /// Lends it as the broker takes it.
  package func withSubmission<Result>(to broker: Broker, _ body: (PlainSubmission) throws -> Result) rethrows
    -> Result
  {
    let (token, payload, collapseId) = (token, Array(text.utf8), Array(collapseId.utf8))
    var push = PlainSubmission(
      interface: interface, topic: broker.registry.topic(named: topic), environment: .sandbox,
      token: token.span,
      payload: payload.span)
    push.expiration = expiration
    push.collapseId = collapseId.span
    return try body(push)
  }
}

/// A channel of an app, in the sandbox.
package struct ChannelName: Hashable, Sendable {
  package var topic: Topic
  package var id: [UInt8]

  package init(topic: Topic, id: [UInt8]) { (self.topic, self.id) = (topic, id) }

  package func key(in broker: Broker) -> ChannelTable.Key? {
    broker.registry.topic(named: topic).map { ChannelTable.Key(topic: $0, environment: .sandbox, id: id) }
  }
}

/// What devices do is done at the broker whose word counts for them.
extension PushService {
  package func pass(nanoseconds: Int64) { now = now.adding(nanoseconds: nanoseconds) }

  /// Connects a device; one that is connected is again. False if it is not let in.
  @discardableResult
  package func connect(_ udid: UDID, key: [UInt8] = [1]) throws -> Bool {
    let phone = TestDevice(connectedAt: now)
    let connected = try leader(of: udid).devices.connect(
      udid, keyFingerprint: key, environment: .sandbox, offeredBaseToken: nil, link: phone.link, now: now)
    phone.session = connected?.session
    phones[udid] = connected == nil ? nil : phone
    try endTurn()
    return connected != nil
  }

  package func disconnect(_ udid: UDID) throws {
    guard let session = phones[udid]?.session else { return }
    try leader(of: udid).devices.sessionEnded(session, now: now)
    phones[udid] = nil
    try endTurn()
  }

  package func appToken(_ udid: UDID, _ topic: Topic) throws -> DeviceToken? {
    guard let session = phones[udid]?.session else { return nil }
    let broker = try leader(of: udid)
    let token = broker.apps.appToken(session, topic: TopicHash(topic), now: now)
    try endTurn()
    return token
  }

  /// The device's filter; answers how many stored notifications it was for.
  @discardableResult
  package func enable(_ topics: [Topic], on udid: UDID) throws -> Int {
    guard let session = phones[udid]?.session else { return 0 }
    let broker = try leader(of: udid)
    let count = broker.devices.setFilter(
      session, enabled: topics.map { TopicHash($0) }, now: now)
    try endTurn()
    return count
  }

  /// Acknowledges a message by its place among those that the device has received on this connection.
  package func acknowledge(_ udid: UDID, _ index: Int, status: UInt8 = 0) throws {
    guard let phone = phones[udid], phone.received.indices.contains(index) else { return }
    let id = phone.received[index].messageId
    try leader(of: udid).deliveries.acknowledge(phone.link, messageId: id, status: status, now: now)
    try endTurn()
  }

  /// What a person does to an app; answers the token that it has then.
  package func change(_ change: AppChange, _ udid: UDID, _ topic: Topic) throws -> DeviceToken? {
    let broker = try leader(of: udid)
    guard let device = broker.registry.device(udid, now: now),
      let topic = broker.registry.topic(named: topic)
    else { return nil }
    let token = broker.apps.change(change, device: device, topic: topic, environment: .sandbox, now: now)
    try endTurn()
    return token
  }

  /// Erases a phone, which ends its connection.
  package func erase(_ udid: UDID) throws {
    let broker = try leader(of: udid)
    guard let device = broker.registry.knownDevice(udid) else { return }
    broker.apps.erase(device, now: now)
    phones[udid] = nil
    try endTurn()
  }

  /// False if the device is not connected or there is no such channel.
  package func join(_ udid: UDID, _ name: ChannelName, seenUntil: Timestamp?) throws -> Bool {
    let broker = try leader(of: udid)
    guard let session = phones[udid]?.session, let key = name.key(in: broker) else { return false }
    let joined = broker.broadcasts.join(session, key, seenUntil: seenUntil, now: now)
    try endTurn()
    return joined
  }

  package func leave(_ udid: UDID, _ name: ChannelName) throws {
    let broker = try leader(of: udid)
    guard let session = phones[udid]?.session, let key = name.key(in: broker) else { return }
    broker.broadcasts.leave(session, key)
    try endTurn()
  }

  /// The message that is kept for a device's token.
  package func kept(_ token: DeviceToken, of udid: UDID) throws -> String? {
    let broker = try leader(of: udid)
    guard let row = broker.registry.find(token) else { return nil }
    return broker.deliveries.stored(row).map { $0.payload.text }
  }
}

/// What a random history has shown to be wrong.
package struct ModelViolation: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// One broker, alone.
package final class SoleBroker: PushService {
  package let broker: Broker
  /// Whether each push and each device ends a turn; else whoever has the broker says when one ends.
  private let endsTurns: Bool
  package var now = Timestamp(seconds: 1_800_000_000)
  package var phones: [UDID: TestDevice] = [:]
  private var pushes: [UInt64] = []

  package init(
    derivation: any TokenDerivation = FakeDerivation(), zones: ZoneShare = ZoneShare(), endsTurns: Bool = true
  ) {
    broker = Broker(derivation: derivation, zones: zones)
    self.endsTurns = endsTurns
  }

  package func leader(of udid: UDID) -> Broker { broker }

  package func endTurn() {
    guard endsTurns else { return }
    _ = broker.deliveries.storeUnsent()
    _ = broker.turn.takeChanges()
  }

  package func submit(_ push: PushOrder) -> Rejection? {
    let result = push.withSubmission(to: broker) { broker.routing.submit($0, detail: nil, now: now) }
    pushes.append(result.id)
    endTurn()
    return result.rejection
  }

  package func state(ofPush number: Int) -> NotificationState? { broker.journal[pushes[number]]?.state }

  package func createChannel(_ name: ChannelName, storesNewest: Bool) {
    if let key = name.key(in: broker) { broker.channels.create(key, storesNewest: storesNewest) }
  }

  package func deleteChannel(_ name: ChannelName) -> Bool {
    name.key(in: broker).map { broker.channels.delete($0) } ?? false
  }

  package func broadcast(_ text: String, to name: ChannelName, expiration: UInt32) -> Bool {
    guard let key = name.key(in: broker), broker.channels.storesNewest(key) != nil else { return false }
    _ = broker.withBroadcast(text, of: key, expiration: expiration) {
      broker.broadcasts.send($0, to: key, storageSeconds: 28_800, now: now)
    }
    return true
  }

  package func readFeedback(_ topic: Topic) -> Set<DeviceToken> {
    guard let topic = broker.registry.topic(named: topic) else { return [] }
    let rows = broker.feedback.rows(topics: [topic], environment: .sandbox)
    broker.feedback.clear(rows)
    return Set(rows.map { broker.registry[$0].token })
  }

  package func sweep() { broker.deliveries.dropExpired(now: now, budget: .max) }

  package func stir(_ choices: inout SeededChoices) -> [UDID] { [] }
}

extension Broker {
  /// Lends a broadcast as its provider sends it.
  package func withBroadcast<Result>(
    _ text: String, of key: ChannelTable.Key, expiration: UInt32, _ body: (Submission) -> Result
  ) -> Result {
    let payload = Array(text.utf8)
    var submission = Submission(
      interface: .provider, topic: key.topic, environment: key.environment, token: .none,
      payload: payload.span)
    submission.plain.expiration = expiration
    return body(submission)
  }

  /// All that is known of some devices and channels, by names, a line each; notifications with their ids, or without, as these differ
  /// by where they came by.
  package func stateLines(
    ids: Bool, devices isIncluded: (UDID) -> Bool = { _ in true },
    channels hasChannel: ([UInt8]) -> Bool = { _ in true }
  ) -> Set<String> {
    var lines: Set<String> = []
    for device in registry.devices where isIncluded(device.udid) {
      lines.insert(
        "\(device.udid) \(device.identity) \(device.keyFingerprint) \(device.firstSeenAt.nanoseconds) \(device.lastSeenAt.nanoseconds)"
      )
    }
    let waiting = Set(feedback.rows)
    for row in RegistrationID.rows(below: registry.registrationCount)
    where isIncluded(registry[registry[row].device].udid) {
      let entry = registry[row]
      lines.insert(
        "\(registry.text(of: row)) \(registry[entry.device].udid) \(registry[entry.topic].label)"
          + " \(registry.context(of: row)?.text ?? "-") \(entry.install) \(entry.environment)"
          + " \(entry.isCustom ? "chosen" : "given") \(stateWord(entry, waits: waiting.contains(row)))"
          + " \(entry.issuedAt.nanoseconds) \(entry.isActive ? "-" : "\(entry.goneAt.nanoseconds)")"
          + " \(messageLine(row, ids: ids))")
    }
    for key in channels.keys {
      if hasChannel(key.id) {
        lines.insert(
          "channel \(registry[key.topic].label) \(key.id) \(channels.storesNewest(key) ?? false)"
            + " \(channels.newest(key).map { broadcastLine($0, ids: ids) } ?? "-")")
      }
      for device in broadcasts.subscribers(key) where isIncluded(registry[device].udid) {
        lines.insert(
          "\(registry[device].udid) listens to \(key.id) \(broadcasts.seenUntil(device, key)?.nanoseconds ?? 0)"
        )
      }
    }
    return lines
  }

  /// Whether it waits in the feedback service is said twice, by the row and by the queue.
  private func stateWord(_ row: Registration, waits: Bool) -> String {
    guard row.awaitsFeedback == waits else { return "half-waiting" }
    let word = row.isActive ? (row.isAbandoned ? "removed" : "installed") : waits ? "waits" : "gone"
    return word + (row.isActive && waits ? ", waits" : "")
      + (row.isActive || row.isAbandoned ? "" : ", not removed")
  }

  private func messageLine(_ row: RegistrationID, ids: Bool) -> String {
    guard let message = deliveries.stored(row) else { return "-" }
    let head = message.head
    return
      "\(ids ? head.id : 0) \(head.receivedAt.nanoseconds) \(head.expiresAt.nanoseconds) \(head.apnsId) \(head.expiry)"
      + " \(head.priority) \(head.saysPriority) \(head.pushType.map { "\($0)" } ?? "-") \(message.payload.text)"
      + " \(message.content.collapseText ?? "-")"
  }

  private func broadcastLine(_ broadcast: ChannelTable.Broadcast, ids: Bool) -> String {
    "\(ids ? broadcast.id : 0) \(String(decoding: broadcast.payload, as: UTF8.self)) \(broadcast.priority)"
      + " \(broadcast.sentAt.nanoseconds) \(broadcast.expiresAt.nanoseconds) \(broadcast.expiry)"
  }
}
