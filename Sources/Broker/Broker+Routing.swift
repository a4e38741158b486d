import PushModel

extension Broker {
  /// Hands an accepted notification to the device, or keeps it. Answers whether the device is behind.
  @inline(__always)
  func route(
    _ submission: PlainSubmission, id: UInt64, row: Int32, _ registration: Registration, now: Timestamp
  ) -> Bool {
    guard registration.goneAt == .never else {
      end(id, .discarded, now)
      return false
    }
    if registration.isAbandoned, isOnline(registration) {
      reportGone(row, now: now)
      end(id, .discarded, now)
      return false
    }
    let expiresAt = Self.expiry(submission.expiration, now)
    let slot = Int(row)
    guard slots[slot].session >= 0, let session = sessions[Int(slots[slot].session)] else {
      keep(submission, id: id, slot: slot, expiresAt: expiresAt, now: now)
      return false
    }
    guard session.link.hasRoom else {
      keep(submission, id: id, slot: slot, expiresAt: expiresAt, now: now)
      if slots[slot].id == id { wait(row, on: session.link) }
      return session.link.isBehind
    }
    sendNow(submission, id: id, row: row, expiresAt: expiresAt, session: session, now: now)
    return session.link.isBehind
  }

  /// Whether the device is there for the environment that the token belongs to.
  private func isOnline(_ registration: Registration) -> Bool {
    registry.devices[Int(registration.device)].session(in: registration.environment) != nil
  }

  /// The connection that a push to this token waits for, if its device is there.
  public func link(of token: UnsafeRawBufferPointer) -> DeviceLink? {
    guard let row = lookUp(token), slots[Int(row)].session >= 0 else { return nil }
    return sessions[Int(slots[Int(row)].session)]?.link
  }

  /// The message of a row goes out when there is room on the connection.
  func wait(_ row: Int32, on link: DeviceLink) {
    guard !slots[Int(row)].isWaiting else { return }
    slots[Int(row)].isWaiting = true
    link.waiting.append(row)
  }

  /// When a message is no longer worth keeping. An expiration of 0, or one that has passed, is tried once and never
  /// kept; none at all means 30 days (`Documentation/provider-api.md#open-questions`).
  @inline(__always)
  static func expiry(_ expiration: UInt32?, _ now: Timestamp) -> Timestamp {
    let latest = now.adding(nanoseconds: Limits.defaultStorageSeconds * 1_000_000_000)
    guard let expiration else { return latest }
    return min(Timestamp(seconds: Int64(expiration)), latest)
  }

  func keep(_ submission: PlainSubmission, id: UInt64, slot: Int, expiresAt: Timestamp, now: Timestamp) {
    guard expiresAt > now else { return end(id, .discarded, now) }
    replace(slot, with: submission, id: id, expiresAt: expiresAt, state: .kept, now: now)
    slots[slot].wasKept = true
    markDirty(slot)
    counters.stored += 1
    note(.delivery, id, .stored, now)
    if let record = journal.pointer(id) {
      record.pointee.state = .stored
      record.pointee.storedAt = now
    }
  }

  private func sendNow(
    _ submission: PlainSubmission, id: UInt64, row: Int32, expiresAt: Timestamp, session: DeviceSession,
    now: Timestamp
  ) {
    let slot = Int(row)
    if expiresAt > now {
      replace(slot, with: submission, id: id, expiresAt: expiresAt, state: .inFlight, now: now)
      if slots[slot].isStored { markDirty(slot) }
      if submission.interface == .gateway { sentThisTurn.append(row) } else { answeredThisTurn.append(row) }
    }
    session.link.noteSent(id, row)
    session.link.outlet.deliver(
      OutgoingMessage(
        token: registry.registrations[slot].token,
        topic: registry.topics[Int(registry.registrations[slot].topic)].hash, payload: submission.payload,
        messageId: UInt32(truncatingIfNeeded: id), expiry: submission.expiration ?? .max, receivedAt: now,
        priority: submission.priority, storageFlags: 0, apnsId: MessageID.words(submission.messageID)))
    counters.sent += 1
    note(.delivery, id, .sent, now)
    if let record = journal.pointer(id) {
      record.pointee.state = .sent
      record.pointee.sentAt = now
      meter.noteSent(record, .direct)
    }
  }

  @inline(__always)
  private func replace(
    _ slot: Int, with submission: PlainSubmission, id: UInt64, expiresAt: Timestamp, state: MessageSlot.State,
    now: Timestamp
  ) {
    if slots[slot].state == .kept {
      end(slots[slot].id, .replaced, now)
      counters.replaced += 1
    }
    slots[slot].state = state
    slots[slot].wasKept = false
    slots[slot].priority = submission.priority
    slots[slot].pushType = submission.pushType
    slots[slot].id = id
    slots[slot].receivedAt = now
    slots[slot].expiresAt = expiresAt
    slots[slot].expiry = submission.expiration ?? .max
    slots[slot].apnsId = MessageID.words(submission.messageID)
    slots[slot].box.assign(submission.payload)
  }

  /// Sends the kept message of a row whose device is there; drops it if its time is over.
  func sendKept(_ row: Int32, to session: DeviceSession, isLast: Bool = false, now: Timestamp) {
    let slot = Int(row)
    guard slots[slot].state == .kept else { return }
    guard slots[slot].expiresAt > now else { return drop(slot, .expired, now) }
    slots[slot].state = .inFlight
    session.link.noteSent(slots[slot].id, row)
    let kept = slots[slot]
    session.link.outlet.deliver(
      OutgoingMessage(
        token: registry.registrations[slot].token,
        topic: registry.topics[Int(registry.registrations[slot].topic)].hash, payload: kept.box.bytes,
        messageId: UInt32(truncatingIfNeeded: kept.id), expiry: kept.expiry, receivedAt: kept.receivedAt,
        priority: kept.priority, storageFlags: kept.wasKept ? (isLast ? 3 : 1) : 0, apnsId: kept.apnsId))
    counters.sent += 1
    note(.delivery, kept.id, .sent, now)
    if let record = journal.pointer(kept.id) {
      record.pointee.state = .sent
      record.pointee.sentAt = now
      meter.noteSent(record, .kept)
    }
  }

  /// Empties a slot for good.
  func drop(_ slot: Int, _ state: NotificationState, _ now: Timestamp) {
    guard slots[slot].state != .empty else { return }
    end(slots[slot].id, state, now)
    if state == .expired { counters.expired += 1 }
    clear(slot)
  }

  func clear(_ slot: Int) {
    slots[slot].state = .empty
    slots[slot].box.free()
    if slots[slot].isStored { markDirty(slot) }
  }

  func end(_ id: UInt64, _ state: NotificationState, _ now: Timestamp) {
    if state == .discarded { counters.discarded += 1 }
    note(.delivery, id, state, now)
    guard let record = journal.pointer(id) else { return }
    record.pointee.state = state
    record.pointee.endedAt = now
    if state == .delivered { meter.noteAcknowledged(record, record.pointee.path) }
  }

  @inline(__always)
  func markDirty(_ slot: Int) {
    guard !slots[slot].isDirty else { return }
    slots[slot].isDirty = true
    dirtySlots.append(Int32(truncatingIfNeeded: slot))
  }
}
