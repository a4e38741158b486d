import PushModel

extension Broker {
  /// What a device gets for connecting.
  public struct Connected {
    public var session: DeviceSession
    public var baseToken: DeviceToken
    /// The device already had this base token, so it need not be told.
    public var tokenWasKnown: Bool
  }

  /// A device has proved who it is. An older session of the same device in the same environment is ended: the newest
  /// connection wins. nil when there are too many devices.
  public func connect(
    _ udid: UDID, keyFingerprint: [UInt8], environment: Environment, offeredBaseToken: DeviceToken?,
    link: DeviceLink, now: Timestamp
  ) -> Connected? {
    guard let device = registry.device(udid, now: now) else { return nil }
    if let older = registry.devices[Int(device)].session(in: environment) {
      disconnect(older, now: now)
      if older.link !== link { older.outlet.endSession(reason: "the device connected again") }
    }
    noteKey(keyFingerprint, of: device, now: now)
    link.inheritPatience(registry.devices[Int(device)].patienceLeft)
    let session = makeSession(device, environment, link, now)
    registry.setSession(session, of: device, in: environment)
    noteDevice(.connected, device, environment, now)
    let baseToken = registry.baseToken(device, environment)
    return Connected(session: session, baseToken: baseToken, tokenWasKnown: offeredBaseToken == baseToken)
  }

  /// Another key is another identity, which has another base token
  /// (`Documentation/device-protocol.md#tokens-and-sessions`).
  private func noteKey(_ fingerprint: [UInt8], of device: Int32, now: Timestamp) {
    registry.updateDevice(device) { row in
      row.lastSeenAt = now
      guard row.keyFingerprint != fingerprint else { return }
      if !row.keyFingerprint.isEmpty { row.identity += 1 }
      row.keyFingerprint = fingerprint
    }
  }

  private func makeSession(
    _ device: Int32, _ environment: Environment, _ link: DeviceLink, _ now: Timestamp
  ) -> DeviceSession {
    let index = freeSessions.popLast() ?? Int32(sessions.count)
    if Int(index) == sessions.count { sessions.append(nil) }
    let session = DeviceSession(
      index: index, device: device, environment: environment, link: link, connectedAt: now)
    sessions[Int(index)] = session
    resumeChannels(session)
    return session
  }

  /// The connection of a session has ended: what it has not acknowledged is kept again, unless a newer one is there.
  public func disconnect(_ session: DeviceSession, now: Timestamp) {
    guard sessions[Int(session.index)] === session else { return }
    sessions[Int(session.index)] = nil
    freeSessions.append(session.index)
    suspendChannels(session)
    noteDevice(.disconnected, session.device, session.environment, now)
    registry.updateDevice(session.device) { row in
      row.lastSeenAt = now
      row.patienceLeft = session.link.patienceLeft
    }
    if registry.devices[Int(session.device)].session(in: session.environment) === session {
      registry.setSession(nil, of: session.device, in: session.environment)
    }
    for row in registry.registrations(of: session.device) where slots[Int(row)].session == session.index {
      slots[Int(row)].session = -1
    }
    let belongs = { [registry] (row: Int32) in
      let registration = registry[registration: row]
      return registration.device == session.device && registration.environment == session.environment
    }
    let unacknowledged = session.link.window.takeAll(where: belongs)
    session.link.expectStrays(unacknowledged.count)
    for entry in unacknowledged { keepAgain(entry, now: now) }
    for row in session.link.waiting where belongs(row) { slots[Int(row)].isWaiting = false }
    session.link.waiting.removeAll(where: belongs)
  }

  private func keepAgain(_ entry: SentWindow.Entry, now: Timestamp) {
    let slot = Int(entry.registration)
    guard slots[slot].state == .inFlight, slots[slot].id == entry.id else {
      // The slot remembers the newest message that was to be kept, also when that has been delivered.
      return end(entry.id, slots[slot].id > entry.id ? .replaced : .discarded, now)
    }
    slots[slot].state = .kept
    slots[slot].wasKept = true
    markDirty(slot)
    note(.delivery, entry.id, .stored, now)
    if let record = journal.pointer(entry.id) {
      record.pointee.state = .stored
      record.pointee.storedAt = now
    }
  }

  /// The device says which topics it wants: the whole set, replacing the earlier one
  /// (`Documentation/device-protocol.md#filter`). Kept messages of topics that are newly wanted go out; answers how
  /// many there were.
  @discardableResult
  public func setFilter(_ session: DeviceSession, enabled: [TopicHash], now: Timestamp) -> Int {
    // What an ended session still had to say must not claim messages for whoever has its number now.
    guard sessions[Int(session.index)] === session else { return 0 }
    session.enabled = enabled
    let wanted = Set(enabled)
    var fresh: [Int32] = []
    for row in registry.registrations(of: session.device) {
      let registration = registry.registrations[Int(row)]
      guard registration.environment == session.environment, registration.isActive else { continue }
      if registration.isAbandoned {
        reportIfPushed(row, now: now)
      } else if wanted.contains(registry.topics[Int(registration.topic)].hash) {
        if slots[Int(row)].session != session.index { fresh.append(row) }
        slots[Int(row)].session = session.index
      } else {
        slots[Int(row)].session = -1
      }
    }
    let kept = fresh.filter { keepsMessage($0, now) }.sorted { slots[Int($0)].id < slots[Int($1)].id }
    for row in kept { sendOrWait(row, session, isLast: row == kept.last, now) }
    sendMissed(to: session, of: wanted, now: now)
    return kept.count
  }

  /// Whether a message is kept for the row; one whose time is over is dropped.
  private func keepsMessage(_ row: Int32, _ now: Timestamp) -> Bool {
    let slot = Int(row)
    guard slots[slot].state == .kept else { return false }
    guard slots[slot].expiresAt <= now else { return true }
    drop(slot, .expired, now)
    return false
  }

  func sendOrWait(_ row: Int32, _ session: DeviceSession, isLast: Bool = false, _ now: Timestamp) {
    guard session.link.hasRoom else { return wait(row, on: session.link) }
    sendKept(row, to: session, isLast: isLast, now: now)
  }

  /// An abandoned app is found out when a message is tried: the kept one counts as such a try.
  private func reportIfPushed(_ row: Int32, now: Timestamp) {
    guard slots[Int(row)].state != .empty else { return }
    reportGone(row, now: now)
  }

  /// The device wants the token of a topic: the one it has, or that of a fresh install. nil when there are too many.
  public func appToken(_ session: DeviceSession, topic hash: TopicHash, now: Timestamp) -> DeviceToken? {
    guard sessions[Int(session.index)] === session, let topic = registry.topic(hashed: hash) else {
      return nil
    }
    return appToken(device: session.device, topic: topic, environment: session.environment, now: now)
  }

  func appToken(device: Int32, topic: Int32, environment: Environment, now: Timestamp) -> DeviceToken? {
    if let row = registry.installed(device, topic, environment) { return registry[registration: row].token }
    guard let row = registry.install(device, topic, environment, now: now) else { return nil }
    addSlot(for: row)
    noteToken(.issued, row, now)
    return registry[registration: row].token
  }

  func addSlot(for row: Int32) {
    var slot = MessageSlot()
    let registration = registry.registrations[Int(row)]
    let session = registry.devices[Int(registration.device)].session(in: registration.environment)
    if let session, session.enabled.contains(registry.topics[Int(registration.topic)].hash) {
      slot.session = session.index
    }
    slots.append(slot)
  }

  /// The device has acknowledged a message. Status 0 means accepted; with any other it was not delivered and is kept
  /// for the next connection (`Documentation/device-protocol.md#acknowledgement`, `#minimal-server`).
  @discardableResult
  public func acknowledge(_ link: DeviceLink, messageId: UInt32, status: UInt8, now: Timestamp)
    -> AcknowledgementOutcome
  {
    guard let entry = link.takeAcknowledged(messageId) else {
      return link.putsUpWithStray(messageId) ? .stray : .tooManyStrays
    }
    let slot = Int(entry.registration)
    if status != 0 {
      keepAgain(entry, now: now)
    } else {
      counters.delivered += 1
      end(entry.id, .delivered, now)
      if slots[slot].state == .inFlight, slots[slot].id == entry.id { clearDelivered(slot) }
    }
    if !link.waiting.isEmpty { roomMade(link, now: now) }
    return .taken
  }

  /// What an acknowledgement was worth.
  public enum AcknowledgementOutcome: Sendable {
    /// It was for a message of this connection.
    case taken
    /// It was for none, which is harmless: devices repeat themselves, and acknowledge broadcasts too.
    case stray
    /// There were too many of those: end the connection.
    case tooManyStrays
  }

  /// As `clear`, but keeps the memory: the next message of a busy token comes soon.
  @inline(__always)
  private func clearDelivered(_ slot: Int) {
    slots[slot].state = .empty
    if slots[slot].isStored { markDirty(slot) }
  }

  /// The device has caught up: what waited goes out, as far as there is room.
  public func roomMade(_ link: DeviceLink, now: Timestamp) {
    guard link.hasCaughtUp else { return }
    let waiting = link.waiting
    link.waiting = []
    for row in waiting { slots[Int(row)].isWaiting = false }
    for row in waiting {
      guard slots[Int(row)].session >= 0, let session = sessions[Int(slots[Int(row)].session)],
        session.link === link
      else { continue }
      sendOrWait(row, session, now)
    }
  }
}
