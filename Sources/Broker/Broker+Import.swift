import PushModel

/// Putting back a state that was saved, while the emulator may be running. Everything counts as changed, so the store
/// hears of it; doing it twice is the same as once.
extension Broker {
  /// The device's id, made or changed to be as told; nil when there are too many.
  public func importDevice(
    _ udid: UDID, identity: Int32?, keyFingerprint: [UInt8]?, firstSeenAt: Timestamp?, lastSeenAt: Timestamp?,
    now: Timestamp
  ) -> DeviceID? {
    guard let device = registry.device(udid, now: now) else { return nil }
    registry.update(device) { row in
      row.identity = identity ?? row.identity
      row.keyFingerprint = keyFingerprint ?? row.keyFingerprint
      row.firstSeenAt = firstSeenAt ?? row.firstSeenAt
      row.lastSeenAt = lastSeenAt ?? row.lastSeenAt
    }
    return device
  }

  /// The id of the row with this token, made or changed to be as told; nil when there are too many. Whoever calls has
  /// checked that the token is no other row's.
  public func importRegistration(_ told: ImportedRegistration, now: Timestamp) -> RegistrationID? {
    guard let row = registry.find(told.token) ?? addImported(told, now: now) else { return nil }
    let wasActive = registry[row].isActive
    registry.update(row) {
      $0.isAbandoned = told.isAbandoned
      $0.issuedAt = told.issuedAt ?? $0.issuedAt
      $0.goneAt = told.goneAt ?? .never
    }
    switch (wasActive, told.goneAt == nil) {
    case (true, false): feedback.add(row)
    case (false, true): feedback.clear([row])
    default: break
    }
    if told.goneAt != nil { deliveries.drop(row, .discarded, now) }
    deliveries.reroute(row)
    noteAbandoned(row)
    history.noteToken(told.goneAt == nil ? .issued : .gone, row, told.environment, now)
    return row
  }

  private func addImported(_ told: ImportedRegistration, now: Timestamp) -> RegistrationID? {
    let context = told.context.flatMap(registry.context)
    guard (context == nil) == (told.context == nil) else { return nil }
    var registration = Registration(
      token: told.token, device: told.device, topic: told.topic, context: context, install: told.install,
      environment: told.environment, issuedAt: told.issuedAt ?? now)
    registration.isChosen = told.chosen != nil
    let row = registry.add(registration, told.chosen)
    if let row { deliveries.add(row) }
    return row
  }

  /// Rows of a device that are on the phone, in these apps, but not among those told, are taken off it.
  public func abandonOthers(_ device: DeviceID, keeping rows: Set<RegistrationID>, now: Timestamp) {
    let told = Set(rows.map { App(registry[$0]) })
    for row in registry.registrations(of: device) where !rows.contains(row) {
      let registration = registry[row]
      guard registration.isActive, !registration.isAbandoned, told.contains(App(registration)) else {
        continue
      }
      abandon(row, now)
    }
  }

  private struct App: Hashable {
    let topic: TopicID
    let context: TokenContextID?
    let environment: Environment

    init(_ row: Registration) { (topic, context, environment) = (row.topic, row.context, row.environment) }
  }

  /// Stores a message for a row, in the place of the one that is there; it goes out if the device is connected. It gets
  /// an entry in the history, as every message has.
  public func importMessage(
    _ submission: Submission, row: RegistrationID, receivedAt: Timestamp, expiresAt: Timestamp, now: Timestamp
  ) {
    let id = history.received(submission.plain, submission.detail, registration: row, now: receivedAt)
    history.counters.accepted += 1
    let head = MessageHead(submission.plain, id: id, expiresAt: expiresAt, now: receivedAt)
    deliveries.store(head, submission.plain.content, in: row, now: receivedAt)
    deliveries.sendStored(row, now: now)
  }
}

/// A row of the token map as a saved state tells it.
public struct ImportedRegistration {
  public var token: DeviceToken
  public var device: DeviceID
  public var topic: TopicID
  /// nil for all of the topic.
  public var context: TokenContext?
  /// The token as its chooser has it; nil for one that was given.
  public var chosen: ChosenToken?
  public var install: Int32
  public var environment: Environment
  public var isAbandoned = false
  /// nil for now, or what it is already.
  public var issuedAt: Timestamp?
  /// nil while the token is active.
  public var goneAt: Timestamp?

  public init(token: DeviceToken, device: DeviceID, topic: TopicID, install: Int32, environment: Environment)
  {
    (self.token, self.device, self.topic) = (token, device, topic)
    (self.install, self.environment) = (install, environment)
  }
}
