import PushModel

/// What another process has changed in a part of the token map that it owns, as its log tells: this broker's copy follows. Nothing here
/// is an event of this process: history and counters don't know of it, and no store hears of it.
extension Broker {
  /// Whether a part of the token map is changed here.
  @inline(__always)
  public func owns(_ zone: UInt16) -> Bool {
    guard let ownedZones else { return true }
    return ownedZones.indices.contains(Int(zone)) && ownedZones[Int(zone)]
  }

  /// Ends the connections of a zone's devices.
  public func endSessions(of zone: UInt16, reason: String, now: Timestamp) {
    for session in deliveries.liveSessions where registry[session.device].zone == zone {
      disconnect(session, now: now)
      session.outlet.endSession(reason: reason)
    }
  }

  /// Whether a device's part of the token map is changed here.
  public func owns(_ udid: UDID) -> Bool { registry.zoneOf.map { owns($0(udid)) } ?? true }

  /// Whether a channel is changed here.
  public func owns(channel id: [UInt8]) -> Bool { zoneOfChannel.map { owns($0(id)) } ?? true }

  /// A topic by its name, or by its hash where nobody knows that; nil when there are too many.
  public func replicateTopic(_ hash: TopicHash, _ name: Topic?) -> TopicID? {
    guard let name, let id = registry.topic(named: name) else { return registry.topic(hashed: hash) }
    return id
  }

  /// A device as it is now; nil when there are too many.
  @discardableResult
  public func replicateDevice(_ told: ReplicaDevice) -> DeviceID? {
    guard let id = registry.device(told.udid, now: told.firstSeenAt) else { return nil }
    registry.update(id) { device in
      (device.identity, device.keyFingerprint) = (told.identity, told.keyFingerprint)
      (device.firstSeenAt, device.lastSeenAt) = (told.firstSeenAt, told.lastSeenAt)
    }
    return id
  }

  /// A row of the token map as it is now. False when there are too many, or its device is not known.
  public func replicate(_ told: ReplicaRegistration) -> Bool {
    guard let device = registry.knownDevice(told.udid),
      let topic = replicateTopic(told.topic, told.topicName),
      let row = registry.find(told.token) ?? addReplica(told, device, topic)
    else { return false }
    let waited = registry[row].awaitsFeedback
    registry.update(row) {
      ($0.isAbandoned, $0.awaitsFeedback) = (told.isAbandoned, told.awaitsFeedback)
      ($0.issuedAt, $0.goneAt, $0.install) = (told.issuedAt, told.goneAt, told.install)
    }
    feedback.restore(row, waited: waited)
    return true
  }

  private func addReplica(_ told: ReplicaRegistration, _ device: DeviceID, _ topic: TopicID)
    -> RegistrationID?
  {
    let context = told.context.flatMap(registry.context)
    guard (context == nil) == (told.context == nil) else { return nil }
    var row = Registration(
      token: told.token, device: device, topic: topic, context: context, install: told.install,
      environment: told.environment, issuedAt: told.issuedAt)
    row.isChosen = told.chosen != nil
    guard let id = registry.add(row, told.chosen) else { return nil }
    deliveries.add(id)
    return id
  }

  /// The message that is kept for a token now. False if nobody has the token.
  public func replicateMessage(_ token: DeviceToken, _ head: MessageHead, _ content: MessageContent) -> Bool {
    guard let row = registry.find(token) else { return false }
    deliveries.replicate(KeptMessage(registration: row, head: head, content: content), of: row)
    return true
  }

  /// No message is kept for a token any more. False if nobody has the token.
  public func replicateNoMessage(_ token: DeviceToken) -> Bool {
    guard let row = registry.find(token) else { return false }
    deliveries.replicate(nil, of: row)
    return true
  }
}

/// A device as a log tells of it.
public struct ReplicaDevice: Equatable {
  public var udid: UDID
  public var identity: Int32
  public var keyFingerprint: [UInt8]
  public var firstSeenAt: Timestamp
  public var lastSeenAt: Timestamp

  public init(
    udid: UDID, identity: Int32, keyFingerprint: [UInt8], firstSeenAt: Timestamp, lastSeenAt: Timestamp
  ) {
    (self.udid, self.identity, self.keyFingerprint) = (udid, identity, keyFingerprint)
    (self.firstSeenAt, self.lastSeenAt) = (firstSeenAt, lastSeenAt)
  }
}

/// A row of the token map as a log tells of it: by names, as each process has ids of its own.
public struct ReplicaRegistration: Equatable {
  public var token: DeviceToken
  public var udid: UDID
  public var topic: TopicHash
  public var topicName: Topic?
  public var context: TokenContext?
  /// The token as its chooser has it; nil for one that was given.
  public var chosen: ChosenToken?
  public var install: Int32
  public var environment: Environment
  public var isAbandoned = false
  public var awaitsFeedback = false
  public var issuedAt: Timestamp
  public var goneAt = Timestamp.never

  public init(
    token: DeviceToken, udid: UDID, topic: TopicHash, install: Int32, environment: Environment,
    issuedAt: Timestamp
  ) {
    (self.token, self.udid, self.topic) = (token, udid, topic)
    (self.install, self.environment, self.issuedAt) = (install, environment, issuedAt)
  }
}
