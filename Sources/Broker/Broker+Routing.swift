import PushModel

extension Broker {
  /// Hands an accepted notification to the device, or keeps it. Answers whether the device is behind.
  @inline(__always)
  func route(
    _ submission: PlainSubmission, id: UInt64, row: RegistrationID, _ registration: Registration,
    now: Timestamp
  ) -> Bool {
    guard registration.goneAt == .never else {
      history.ended(id, .discarded, now)
      return false
    }
    if registration.isAbandoned, isOnline(registration) {
      reportGone(row, now: now)
      history.ended(id, .discarded, now)
      return false
    }
    guard let session = slots[row].session.flatMap({ deliveries.lent($0) }) else {
      keep(MessageHead(submission, id: id, now: now), submission.content, in: row, now: now)
      return false
    }
    return session._withUnsafeGuaranteedRef {
      send(submission, id: id, to: row, registration, $0, now: now)
    }
  }

  /// Hands it to the device, or keeps it until there is room. Answers whether the device is behind.
  @inline(never)
  private func send(
    _ submission: PlainSubmission, id: UInt64, to row: RegistrationID, _ registration: Registration,
    _ session: DeviceSession, now: Timestamp
  ) -> Bool {
    let head = MessageHead(submission, id: id, now: now)
    guard session.link.hasRoom else {
      if keep(head, submission.content, in: row, now: now) { wait(row, on: session.link) }
      return session.link.isBehind
    }
    sendNow(head, submission, to: row, registration, session, now: now)
    return session.link.isBehind
  }

  /// The session that messages of a row go to now.
  @inline(__always)
  func session(of row: RegistrationID) -> DeviceSession? { slots[row].session.flatMap { deliveries[$0] } }

  /// Whether the device is there for the environment that the token belongs to.
  private func isOnline(_ registration: Registration) -> Bool {
    registry.session(of: registration.device, in: registration.environment) != nil
  }

  /// The connection that a push to this token waits for, if its device is there.
  public func link(of token: UnsafeRawBufferPointer) -> DeviceLink? {
    lookUp(token).flatMap { session(of: $0)?.link }
  }

  /// The message of a row goes out when there is room on the connection.
  func wait(_ row: RegistrationID, on link: DeviceLink) {
    if slots.setWaiting(row, true) { link.waiting.append(row) }
  }

  /// Keeps a message in the place of the one that is there; false if it is not worth keeping.
  @inline(__always)
  @discardableResult
  func keep(_ head: MessageHead, _ content: MessageContent, in row: RegistrationID, now: Timestamp)
    -> Bool
  {
    guard head.expiresAt > now else {
      history.ended(head.id, .discarded, now)
      return false
    }
    put(head, content, in: row, as: .kept, now: now)
    history.counters.stored += 1
    history.stored(head.id, now)
    return true
  }

  @inline(__always)
  private func put(
    _ head: MessageHead, _ content: MessageContent, in row: RegistrationID,
    as state: MessageSlot.State, now: Timestamp
  ) {
    guard let replaced = slots.put(head, content, in: row, as: state) else { return }
    history.ended(replaced, .replaced, now)
    history.counters.replaced += 1
  }

  @inline(__always)
  private func sendNow(
    _ head: MessageHead, _ submission: PlainSubmission, to row: RegistrationID, _ registration: Registration,
    _ session: DeviceSession, now: Timestamp
  ) {
    deliveries.use(session)
    if head.expiresAt > now {
      put(head, submission.content, in: row, as: .inFlight, now: now)
      deliveries.noteSent(row, from: submission.interface)
    }
    session.deliver(
      OutgoingMessage(
        token: registration.token, topic: registry[registration.topic].hash, content: submission.content,
        head: head, origin: .fresh), of: row, isInSlot: head.expiresAt > now)
    history.sent(head.id, .direct, now)
  }

  /// Sends the kept message of a row whose device is there; drops it if its time is over.
  func sendKept(_ row: RegistrationID, to session: DeviceSession, isLast: Bool = false, now: Timestamp) {
    let slot = slots[row]
    guard slot.state == .kept else { return }
    guard slot.head.expiresAt > now else { return drop(row, .expired, now) }
    slots.send(row)
    let registration = registry[row]
    session.deliver(
      OutgoingMessage(
        token: registration.token, topic: registry[registration.topic].hash, content: slot.content,
        head: slot.head, origin: slot.wasKept ? (isLast ? .lastStored : .stored) : .fresh),
      of: row, isInSlot: true)
    history.sent(slot.head.id, .kept, now)
  }

  func sendOrWait(_ row: RegistrationID, _ session: DeviceSession, isLast: Bool = false, _ now: Timestamp) {
    guard session.link.hasRoom else { return wait(row, on: session.link) }
    sendKept(row, to: session, isLast: isLast, now: now)
  }

  /// Empties a slot for good.
  func drop(_ row: RegistrationID, _ state: NotificationState, _ now: Timestamp) {
    if let id = slots.drop(row) { history.ended(id, state, now) }
  }

  // MARK: Acknowledgements

  /// What an acknowledgement was worth.
  public enum AcknowledgementOutcome: Sendable {
    /// It was for a message of this connection.
    case taken
    /// It was for none, which is harmless: devices repeat themselves, and acknowledge broadcasts too.
    case stray
    /// There were too many of those: end the connection.
    case tooManyStrays
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
    if status != 0 {
      keepAgain(entry, now: now)
    } else {
      history.ended(entry.id, .delivered, now)
      slots.acknowledge(entry.id, in: entry.registration)
    }
    if !link.waiting.isEmpty { roomMade(link, now: now) }
    return .taken
  }

  /// A message was on its way and did not arrive.
  func keepAgain(_ entry: SentWindow.Entry, now: Timestamp) {
    let state = slots.keepAgain(entry)
    if state == .stored { history.stored(entry.id, now) } else { history.ended(entry.id, state, now) }
  }

  /// The device has caught up: what waited goes out, as far as there is room.
  public func roomMade(_ link: DeviceLink, now: Timestamp) {
    guard link.hasCaughtUp else { return }
    let waiting = link.waiting
    link.waiting = []
    for row in waiting { _ = slots.setWaiting(row, false) }
    for row in waiting {
      guard let session = session(of: row), session.link === link else { continue }
      sendOrWait(row, session, now)
    }
  }
}
