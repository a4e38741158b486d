import Basics
import PushModel

/// Hands the newest notification of each token to its device, or stores it until the device is there. Owns who is connected
/// (`LiveSessions`) and what is stored or on its way (`StoredNotifications`).
public final class Deliveries {
  private let registry: Registry
  private let history: History
  private let slots = StoredNotifications()
  private let sessions = LiveSessions()

  init(_ registry: Registry, _ history: History) { (self.registry, self.history) = (registry, history) }

  // MARK: A push

  /// Hands a notification to the device of a row, or stores it. Answers whether the device is behind.
  @inline(__always)
  func take(
    _ submission: PlainSubmission, id: UInt64, to row: RegistrationID, _ registration: Registration,
    now: Timestamp
  ) -> Bool {
    guard let session = session(of: row) else {
      store(NotificationHead(submission, id: id, now: now), submission.content, in: row, now: now)
      return false
    }
    return send(submission, id: id, to: row, registration, session, now: now)
  }

  /// Hands it to the device, or stores it until there is room. Answers whether the device is behind.
  @inline(never)
  private func send(
    _ submission: PlainSubmission, id: UInt64, to row: RegistrationID, _ registration: Registration,
    _ session: DeviceSession, now: Timestamp
  ) -> Bool {
    let head = NotificationHead(submission, id: id, now: now)
    guard session.link.hasRoom else {
      if store(head, submission.content, in: row, now: now) { wait(row, on: session.link) }
      return session.link.isBehind
    }
    sendNow(head, submission, to: row, registration, session, now: now)
    return session.link.isBehind
  }

  @inline(__always)
  private func sendNow(
    _ head: NotificationHead, _ submission: PlainSubmission, to row: RegistrationID,
    _ registration: Registration,
    _ session: DeviceSession, now: Timestamp
  ) {
    sessions.use(session)
    if head.expiresAt > now {
      put(head, submission.content, in: row, as: .inFlight, now: now)
      sessions.noteSent(row, from: submission.interface)
    }
    deliver(
      head, submission.content, .fresh, of: row, registration, to: session, isInSlot: head.expiresAt > now)
    history.sent(head.id, .direct, now)
  }

  @inline(__always)
  private func deliver(
    _ head: NotificationHead, _ content: NotificationContent, _ origin: NotificationOrigin,
    of row: RegistrationID,
    _ registration: Registration, to session: DeviceSession, isInSlot: Bool
  ) {
    session.link.noteSent(head.id, row, isInSlot: isInSlot)
    let notification = OutgoingNotification(
      token: registration.token, topic: registry[registration.topic].hash, content: content, head: head,
      origin: origin)
    session.link.noteUnsent(session.outlet.deliver(notification))
  }

  /// Stores a notification in the place of the one that is there; false if it is not worth that.
  @inline(__always)
  @discardableResult
  func store(_ head: NotificationHead, _ content: NotificationContent, in row: RegistrationID, now: Timestamp)
    -> Bool
  {
    guard head.expiresAt > now else {
      history.ended(head.id, .discarded, now)
      return false
    }
    put(head, content, in: row, as: .stored, now: now)
    history.stored(head.id, now)
    return true
  }

  @inline(__always)
  private func put(
    _ head: NotificationHead, _ content: NotificationContent, in row: RegistrationID,
    as state: NotificationSlot.State, now: Timestamp
  ) {
    guard let replaced = slots.put(head, content, in: row, as: state) else { return }
    history.replaced(replaced, now)
  }

  // MARK: What is stored

  /// The notification of a row, whether it waits or is on its way; nil if there is none.
  public func stored(_ row: RegistrationID) -> StoredNotification? { slots.notification(row) }

  /// The state of a row's notification, for tests.
  package func slot(_ row: RegistrationID) -> NotificationSlot { slots[row] }

  /// Sends what is stored for these rows, whose device has just come, oldest first. Answers how many there were.
  func sendStored(of rows: [RegistrationID], to session: DeviceSession, now: Timestamp) -> Int {
    let waiting = rows.filter { isWorthSending($0, now) }
      .sorted { slots.head($0).isOlder(than: slots.head($1)) }
    for row in waiting { sendOrWait(row, session, isLast: row == waiting.last, now) }
    return waiting.count
  }

  /// The same of one row, if its device is there.
  func sendStored(_ row: RegistrationID, now: Timestamp) {
    if let session = session(of: row) { sendOrWait(row, session, now) }
  }

  /// Stores a notification for a row, in the place of the one that is there; it goes out if the device is connected. It gets
  /// an entry in the history, as every notification has.
  public func importNotification(
    _ submission: Submission, row: RegistrationID, receivedAt: Timestamp, expiresAt: Timestamp, now: Timestamp
  ) {
    let id = history.imported(submission.plain, submission.detail, registration: row, now: receivedAt)
    let head = NotificationHead(submission.plain, id: id, expiresAt: expiresAt, now: receivedAt)
    store(head, submission.plain.content, in: row, now: receivedAt)
    sendStored(row, now: now)
  }

  /// Whether a notification is stored for the row; one whose time is over is dropped.
  private func isWorthSending(_ row: RegistrationID, _ now: Timestamp) -> Bool {
    guard slots.state(row) == .stored else { return false }
    guard slots.head(row).expiresAt <= now else { return true }
    drop(row, .expired, now)
    return false
  }

  private func sendOrWait(
    _ row: RegistrationID, _ session: DeviceSession, isLast: Bool = false, _ now: Timestamp
  ) {
    guard session.link.hasRoom else { return wait(row, on: session.link) }
    guard slots.state(row) == .stored else { return }
    guard slots.head(row).expiresAt > now else { return drop(row, .expired, now) }
    slots.send(row)
    let slot = slots[row]
    deliver(
      slot.head, slot.content, slot.wasStored ? (isLast ? .lastStored : .stored) : .fresh, of: row,
      registry[row], to: session, isInSlot: true)
    history.sent(slot.head.id, .kept, now)
  }

  /// The notification of a row goes out when there is room on the connection.
  private func wait(_ row: RegistrationID, on link: DeviceLink) {
    if slots.setWaiting(row, true) { link.wait(row) }
  }

  /// Empties a slot for good.
  func drop(_ row: RegistrationID, _ state: NotificationState, _ now: Timestamp) {
    if let id = slots.drop(row) { history.ended(id, state, now) }
  }

  /// Drops stored notifications whose time is over, looking at `budget` rows and going on there next time.
  public func dropExpired(now: Timestamp, budget: Int) {
    var left = min(budget, slots.count)
    while let row = slots.nextExpired(now, budget: &left) {
      if registry.leads(row) { drop(row, .expired, now) }
    }
  }

  /// Drops what is stored for so many rows from one on; what is on its way stays. Answers the row to go on at; nil after the last.
  public func dropStored(from start: Int, budget: Int, now: Timestamp) -> Int? {
    let (rows, next) = slots.stored(from: start, budget: budget)
    for row in rows where registry.leads(row) { drop(row, .discarded, now) }
    return next
  }

  /// The token map is emptied: so is this.
  func forgetAll(now: Timestamp) {
    for row in RegistrationID.rows(below: slots.count) { drop(row, .discarded, now) }
    slots.removeAll()
    sessions.forgetTurn()
  }

  // MARK: Where notifications go

  /// A row was added to the token map.
  func add(_ row: RegistrationID) { slots.add(listener(of: row)) }

  /// Notifications of a row go to whoever wants them now.
  func reroute(_ row: RegistrationID) { slots.route(row, to: listener(of: row)) }

  /// Notifications of a row go to the session from now on, or with nil nowhere. Answers whether that is news for the session.
  @discardableResult
  func route(_ row: RegistrationID, to session: DeviceSession?) -> Bool {
    let session = session.flatMap { canCarry(row, $0) ? $0.id : nil }
    defer { slots.route(row, to: session) }
    return session != nil && slots.session(row) != session
  }

  /// The session that notifications of a row go to now.
  @inline(__always)
  func session(of row: RegistrationID) -> DeviceSession? { slots.session(row).flatMap { sessions[$0] } }

  /// The session that wants notifications of a row, as its device has the app.
  private func listener(of row: RegistrationID) -> SessionID? {
    let registration = registry[row]
    guard registration.isActive, !registration.isAbandoned,
      let session = registry.session(of: registration),
      session.enabled.contains(registry[registration.topic].hash), canCarry(row, session)
    else { return nil }
    return session.id
  }

  /// Whether a connection can carry the notifications of a row: iPhones know no tokens but those of 32 bytes.
  func canCarry(_ row: RegistrationID, _ session: DeviceSession) -> Bool {
    !registry.hasOtherLength(row) || session.outlet.way == .stream
  }

  // MARK: Sessions

  /// Those of so many places from one on that are live, and the next place; nil after the last.
  func liveSessions(from start: Int, budget: Int) -> ([DeviceSession], next: Int?) {
    sessions.live(from: start, budget: budget)
  }

  func open(_ device: DeviceID, _ environment: Environment, _ link: DeviceLink, at now: Timestamp)
    -> DeviceSession
  { sessions.open(device, environment, link, at: now) }

  /// A session has ended: what its device has not acknowledged is stored again.
  func close(_ session: DeviceSession, now: Timestamp) {
    sessions.close(session)
    for row in registry.registrations(of: session.device) where slots.session(row) == session.id {
      slots.route(row, to: nil)
    }
    let belongs = { [registry] (row: RegistrationID) in
      let registration = registry[row]
      return registration.device == session.device && registration.environment == session.environment
    }
    let unacknowledged = session.link.takeAll(where: belongs)
    session.link.expectStrays(unacknowledged.count)
    for entry in unacknowledged { storeAgain(entry, now: now) }
    for row in session.link.takeWaiting(where: belongs) { _ = slots.setWaiting(row, false) }
  }

  // MARK: Acknowledgements

  /// What an acknowledgement was worth.
  public enum AcknowledgementOutcome: Sendable {
    /// It was for a notification of this connection.
    case taken
    /// It was for none, which is harmless: devices repeat themselves, and acknowledge broadcasts too.
    case stray
    /// There were too many of those: end the connection.
    case tooManyStrays
  }

  /// The device has acknowledged a notification. Status 0 means accepted; with any other it was not delivered and is stored
  /// for the next connection (`Documentation/device-protocol.md#acknowledgement`, `#minimal-server`).
  @discardableResult
  public func acknowledge(_ link: DeviceLink, messageId: UInt32, status: UInt8, now: Timestamp)
    -> AcknowledgementOutcome
  {
    guard let entry = link.takeAcknowledged(messageId) else {
      return link.putsUpWithStray(messageId) ? .stray : .tooManyStrays
    }
    if status != 0 {
      storeAgain(entry, now: now)
    } else {
      history.ended(entry.id, .delivered, now)
      slots.acknowledge(entry.id, in: entry.registration)
    }
    if link.isWaitedFor { roomMade(link, now: now) }
    return .taken
  }

  /// A notification was on its way and did not arrive.
  private func storeAgain(_ entry: SentWindow.Entry, now: Timestamp) {
    let state = slots.storeAgain(entry)
    if state == .stored { history.storedAgain(entry.id, now) } else { history.ended(entry.id, state, now) }
  }

  /// The device has caught up: what waited goes out, as far as there is room.
  public func roomMade(_ link: DeviceLink, now: Timestamp) {
    guard link.hasCaughtUp else { return }
    let waiting = link.takeWaiting()
    for row in waiting { _ = slots.setWaiting(row, false) }
    for row in waiting {
      guard let session = session(of: row), session.link === link else { continue }
      sendOrWait(row, session, now)
    }
  }

  /// Whether any device has notifications that it has not acknowledged.
  public var hasUnacknowledged: Bool { sessions.live.contains { $0.link.window.count > 0 } }

  // MARK: The store

  /// A provider on the gateway is told in this turn how far it got.
  public func gatewayAnswers() { sessions.gatewayAnswers() }

  /// Has what is on its way to a device, and would be lost with this process, stored. Call it when the devices' connections were
  /// flushed, before providers hear anything. Answers whether the store must hear of anything.
  public func storeUnsent() -> Bool {
    for row in sessions.takeAtRisk({ slots.session($0) }) { slots.persist(row) }
    return slots.isDirty
  }

  /// Rows whose stored notification has changed since the last call.
  func takeChanges() -> [RegistrationID] { slots.takeDirty() }

  /// Puts back what the store has, before the first turn. Its history is gone, so its id only tells it apart on the wire.
  public func restore(_ notification: StoredNotification) {
    guard slots.contains(notification.registration) else { return }
    slots.restore(notification)
    history.journal.skip(past: notification.head.id)
  }

  /// What another process has stored for a token, or with nil that it has nothing. False if nobody has the token.
  public func replicate(
    _ notification: (head: NotificationHead, content: NotificationContent)?, for token: DeviceToken
  )
    -> Bool
  {
    guard let row = registry.find(token) else { return false }
    guard let notification else {
      slots.restoreEmpty(row)
      return true
    }
    slots.restore(
      StoredNotification(registration: row, head: notification.head, content: notification.content))
    return true
  }

  // MARK: Memory

  /// What empty slots hold for their next notification, in bytes.
  public var spareBytes: Int { slots.spareBytes }

  /// Most that empty slots may hold, in bytes.
  public func limitSpare(to bytes: Int) { slots.spareLimit = bytes }

  /// Has empty slots give back so many bytes, as far as `budget` rows have them. Answers how many they were.
  func giveBackSpare(_ bytes: Int, budget: Int) -> Int {
    let before = slots.spareBytes
    slots.giveBackSpare(downTo: max(0, before - bytes), budget: budget)
    return before - slots.spareBytes
  }
}
