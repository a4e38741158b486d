import PushModel

/// What a store must write at the end of a turn. Rows are read from the broker by index.
public struct BrokerChanges {
  public var devices: [Int32]
  public var topics: [Int32]
  public var registrations: [Int32]
  /// Rows whose kept message is to be written (`keptMessage` answers it) or removed (it answers nil).
  public var messages: [Int32]
  /// Entries of `foreignFeedback` that are to be written, or removed where there is none of the id.
  public var foreignFeedback: [Int64] = []
  /// Entries of `pendingForwards` that are to be written, or removed where there is none of the id.
  public var pendingForwards: [Int64] = []
  /// Rows of channels that are to be written, or removed with their subscriptions (`ChannelTable.stored` answers nil).
  public var channels: [Int64] = []
  /// Subscriptions that are to be written or removed, after the channels.
  public var subscriptions: [StoredSubscription] = []
  /// Everything stored before, channels apart, is to be deleted first.
  public var startsOver = false

  public var isEmpty: Bool {
    !startsOver && devices.isEmpty && topics.isEmpty && registrations.isEmpty && messages.isEmpty
      && foreignFeedback.isEmpty && pendingForwards.isEmpty && channels.isEmpty && subscriptions.isEmpty
  }
}

/// A kept message as the store writes and reads it.
public struct KeptMessage {
  public var registration: Int32
  public var id: UInt64
  public var receivedAt: Timestamp
  public var expiresAt: Timestamp
  /// As the device is told, UNIX seconds; all ones for none.
  public var expiry: UInt32
  public var priority: Priority
  public var pushType: PushType
  public var apnsId: (UInt64, UInt64)
  /// Lent until the slot changes.
  public var payload: UnsafeRawBufferPointer

  public init(
    registration: Int32, id: UInt64, receivedAt: Timestamp, expiresAt: Timestamp, expiry: UInt32,
    priority: Priority,
    pushType: PushType, apnsId: (UInt64, UInt64), payload: UnsafeRawBufferPointer
  ) {
    (self.registration, self.id, self.receivedAt, self.expiresAt) = (registration, id, receivedAt, expiresAt)
    (self.expiry, self.priority, self.pushType) = (expiry, priority, pushType)
    (self.apnsId, self.payload) = (apnsId, payload)
  }
}

extension Broker {
  /// What changed since the last call. The caller commits it before anything of the turn becomes visible.
  public func takeChanges() -> BrokerChanges {
    for row in dirtySlots {
      slots[Int(row)].isDirty = false
      slots[Int(row)].isStored = keptMessage(row) != nil
    }
    var changes = BrokerChanges(
      devices: registry.changes.devices, topics: registry.changes.topics,
      registrations: registry.changes.registrations, messages: dirtySlots, startsOver: startsOver)
    changes.foreignFeedback = foreignFeedback.takeChanges()
    changes.pendingForwards = pendingForwards.takeChanges()
    (changes.channels, changes.subscriptions) = (channels.changes.channels, channels.changes.subscriptions)
    startsOver = false
    registry.changes = RegistryChanges()
    channels.changes = ChannelChanges()
    dirtySlots.removeAll(keepingCapacity: dirtySlots.capacity < 1 << 16)
    return changes
  }

  /// The message of a row, whether it waits or is on its way; nil if there is none.
  public func keptMessage(_ row: Int32) -> KeptMessage? {
    let slot = slots[Int(row)]
    guard slot.state != .empty else { return nil }
    return KeptMessage(
      registration: row, id: slot.id, receivedAt: slot.receivedAt, expiresAt: slot.expiresAt,
      expiry: slot.expiry,
      priority: slot.priority, pushType: slot.pushType, apnsId: slot.apnsId, payload: slot.box.bytes)
  }

  /// Call after the devices' connections were flushed, before providers hear anything: messages on their way to a device
  /// that would be lost with this process must be stored first. Answers whether there are any.
  ///
  /// Success is silent on the gateway, so what was sent from there may wait in the system's buffers until a provider
  /// learns how far it got: writing every message to a busy device would cost a third of the throughput.
  public func storeUnsent() -> Bool {
    for row in sentThisTurn { store(row) { $0.outlet.unsentBytes > 0 } }
    for row in answeredThisTurn { store(row) { $0.mayLoseOutput } }
    if tellsOfEarlier { storeUnacknowledged() }
    sentThisTurn.removeAll(keepingCapacity: sentThisTurn.capacity < 1 << 16)
    answeredThisTurn.removeAll(keepingCapacity: answeredThisTurn.capacity < 1 << 16)
    tellsOfEarlier = false
    return !dirtySlots.isEmpty
  }

  /// A provider on the gateway is told in this turn how far it got.
  public func gatewayAnswers() { tellsOfEarlier = true }

  @inline(__always)
  private func store(_ row: Int32, where isAtRisk: (DeviceLink) -> Bool) {
    let slot = Int(row)
    guard slots[slot].state == .inFlight, slots[slot].session >= 0,
      let session = sessions[Int(slots[slot].session)], isAtRisk(session.link)
    else { return }
    markDirty(slot)
  }

  /// Whatever devices have not acknowledged on connections that could lose it.
  private func storeUnacknowledged() {
    for session in sessions {
      guard let link = session?.link, link.window.count > 0, link.mayLoseOutput else { continue }
      for entry in link.window.pending where slots[Int(entry.registration)].state == .inFlight {
        markDirty(Int(entry.registration))
      }
    }
  }

  /// Drops kept messages whose time is over, looking at `budget` rows and going on there next time.
  public func dropExpired(now: Timestamp, budget: Int) {
    for _ in 0..<min(budget, slots.count) {
      if expiryCursor >= slots.count { expiryCursor = 0 }
      if slots[expiryCursor].state == .kept, slots[expiryCursor].expiresAt <= now {
        drop(expiryCursor, .expired, now)
      }
      expiryCursor += 1
    }
  }

  // MARK: Loading, before the first turn

  /// Puts back a topic; indices must come in order.
  public func restoreTopic(hash: TopicHash, name: Topic?) {
    guard registry.topic(hashed: hash) != nil else { return }
    if let name { _ = registry.topic(named: name) }
    registry.changes.topics = []
  }

  /// Puts back a device; indices must come in order.
  public func restoreDevice(
    udid: UDID, identity: Int32, keyFingerprint: [UInt8], firstSeenAt: Timestamp, lastSeenAt: Timestamp
  ) {
    guard let index = registry.device(udid, now: firstSeenAt) else { return }
    registry.devices[Int(index)].identity = identity
    registry.devices[Int(index)].keyFingerprint = keyFingerprint
    registry.devices[Int(index)].lastSeenAt = lastSeenAt
    registry.changes.devices = []
  }

  /// Puts back a row of the token map; indices must come in order, after their devices and topics.
  public func restoreRegistration(
    token: DeviceToken, device: Int32, topic: Int32, install: Int32, environment: Environment,
    isAbandoned: Bool,
    awaitsFeedback: Bool, issuedAt: Timestamp, goneAt: Timestamp
  ) -> Bool {
    guard device >= 0, device < registry.devices.count, topic >= 0, topic < registry.topics.count else {
      return false
    }
    let row = Registration(
      token: token, device: device, topic: topic, install: install, environment: environment,
      isAbandoned: isAbandoned, awaitsFeedback: awaitsFeedback, issuedAt: issuedAt, goneAt: goneAt,
      nextOfDevice: -1)
    guard let index = registry.add(row) else { return false }
    addSlot(for: index)
    if awaitsFeedback { feedbackQueue.append(index) }
    registry.changes.registrations = []
    return true
  }

  /// Puts back a kept message. Its history is gone, so its id only tells it apart on the wire.
  public func restoreMessage(_ message: KeptMessage) {
    guard message.registration >= 0, message.registration < slots.count else { return }
    let slot = Int(message.registration)
    slots[slot].state = .kept
    slots[slot].isStored = true
    slots[slot].wasKept = true
    slots[slot].id = message.id
    slots[slot].receivedAt = message.receivedAt
    slots[slot].expiresAt = message.expiresAt
    slots[slot].expiry = message.expiry
    slots[slot].priority = message.priority
    slots[slot].pushType = message.pushType
    slots[slot].apnsId = message.apnsId
    slots[slot].box.assign(message.payload)
    journal.skip(past: message.id)
  }
}

extension Broker {
  /// Whether any device has messages that it has not acknowledged.
  public var hasUnacknowledged: Bool { sessions.contains { ($0?.link.window.count ?? 0) > 0 } }
}
